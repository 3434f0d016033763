"""How many questions are answered right, and the bars for it."""
