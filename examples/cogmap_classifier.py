"""The network of the probe `cogmap` as a scikit-learn estimator."""

from dataclasses import fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from gde_plugins.probes.fitting.training import Settings, examples_of, fit_network


class CogmapClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of all cells of a grid from the activations of one turn (Arghal et
    al. 2026, section 5.1).

    X is (N, D); y is (N, height, width) or any other (N, *shape), and a cell is told
    from the others by its indices. Labels of shape (N,) have no cells: then this is an
    ordinary classifier, e.g. of rows [h; row; column].

    Attributes (after fitting):
        classes_: the labels found, sorted.
        loss_curve_: loss of every step.
        weights_: the fitted network.
        shape_: shape of the grid, () where labels have none.
    """

    def __init__(
        self,
        *,
        hidden: int = 1024,
        whiten: bool = True,
        epochs: int = 20,
        batch: int = 32,
        cells: int | None = 16,
        learning_rate: float = 3e-3,
        weight_decay: float = 1e-3,
        device: str = "cpu",
        random_state: Any = None,
    ) -> None:
        """Keep the parameters; see `gde_plugins.probes.config.CogmapConfig` for what
        they mean.

        `hidden` 0 is softmax regression. Classes are weighed by their inverse
        frequency.
        """
        # scikit-learn clones estimators by these attributes, so they are kept unchecked
        # and unchanged.
        self.hidden = hidden
        self.whiten = whiten
        self.epochs = epochs
        self.batch = batch
        self.cells = cells
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to activations (N, D) and labels (N, *shape)."""
        X, codes = self._encoded(X, y)
        n_classes = len(self.classes_)
        # A RandomState, which scikit-learn asks for, seeds the generator that all draws
        # come from.
        seed = check_random_state(self.random_state).randint(2**31)
        rng = np.random.default_rng(seed)

        examples = examples_of(X, codes, self.shape_, n_classes)
        names = [field.name for field in fields(Settings)]
        settings = Settings(**{name: getattr(self, name) for name in names})
        fitted = fit_network(examples, n_classes, settings, rng)
        self.weights_, self.loss_curve_ = fitted
        return self

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """(N, *shape, classes) probabilities."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return self.weights_.probabilities(X, self.shape_)

    def predict(self, X: Any) -> NDArray[Any]:
        """(N, *shape) likeliest classes."""
        likeliest = self.predict_proba(X).argmax(axis=-1)
        return np.asarray(self.classes_[likeliest])

    def score(self, X: Any, y: Any) -> float:
        """Return the share of correct cells."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def _encoded(self, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return checked activations and the cells' class indices (N, cells).

        The classes and the grid's shape become attributes.
        """
        # None is left for scikit-learn to refuse, with its own message.
        if y is not None:
            y = np.asarray(y)
        # scikit-learn checks labels of at most two dimensions.
        flat = y
        if np.ndim(y) >= 3:
            flat = y.reshape(len(y), -1)
        X, flat = validate_data(
            self, X, flat, multi_output=True, dtype=[np.float64, np.float32]
        )
        check_classification_targets(flat.ravel())

        self.classes_, codes = np.unique(flat, return_inverse=True)
        self.shape_ = np.shape(y)[1:]
        by_turn = codes.reshape(len(X), -1)
        return X, by_turn.astype(np.int64)
