"""Who acts in BabyAI worlds and answers questions about them."""
