"""How a row is scored: the ratio of kernel means, its units and gamma, smoothing, and scores that classifiers learn."""
