"""How a score becomes a decision: honest scores, and the probabilities and thresholds that are read off them."""
