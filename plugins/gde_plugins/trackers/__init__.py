"""Results where people look: W&B and MLflow."""
