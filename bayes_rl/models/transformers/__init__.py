"""Models of sequences by attention."""

from bayes_rl.models.transformers.image_transformer import build_image_transformer
from bayes_rl.models.transformers.transformer import build_transformer
