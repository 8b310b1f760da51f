"""How a human is reached: what is asked, on which way, and what is answered."""
