"""What runs where the true day is: reading it, matching it, sharing it, and writing down what that cost."""
