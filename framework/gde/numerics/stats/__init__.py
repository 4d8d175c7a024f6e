"""Statistics of clustered observations: estimates, tests of differences and of trends,
families of tests, power.

Quantiles come from `scipy.special`: `scipy.stats`, which the tests need, takes half a
second to load. The modules write `scipy.stats.wilcoxon` and import nothing from it, so
that commands which test nothing need not wait for it.
"""

from gde.numerics.stats._differences import Difference as Difference
from gde.numerics.stats._differences import cluster_differences as cluster_differences
from gde.numerics.stats._differences import cluster_means as cluster_means
from gde.numerics.stats._differences import effect_paper as effect_paper
from gde.numerics.stats._differences import paired_difference as paired_difference
from gde.numerics.stats._differences import rank_biserial as rank_biserial
from gde.numerics.stats._differences import sign_flip as sign_flip
from gde.numerics.stats._differences import signed_rank as signed_rank
from gde.numerics.stats._differences import unpaired_difference as unpaired_difference
from gde.numerics.stats._estimates import CONFIDENCE as CONFIDENCE
from gde.numerics.stats._estimates import MINIMUM_CLUSTERS as MINIMUM_CLUSTERS
from gde.numerics.stats._estimates import RESAMPLES as RESAMPLES
from gde.numerics.stats._estimates import Estimate as Estimate
from gde.numerics.stats._estimates import Interval as Interval
from gde.numerics.stats._estimates import clopper_pearson as clopper_pearson
from gde.numerics.stats._estimates import cluster_mean as cluster_mean
from gde.numerics.stats._estimates import cluster_ratio as cluster_ratio
from gde.numerics.stats._estimates import cluster_share as cluster_share
from gde.numerics.stats._estimates import expanded_bca as expanded_bca
from gde.numerics.stats._estimates import within_trials as within_trials
from gde.numerics.stats._families import adjusted as adjusted
from gde.numerics.stats._families import benjamini_hochberg as benjamini_hochberg
from gde.numerics.stats._families import holm as holm
from gde.numerics.stats._finding import Finding as Finding
from gde.numerics.stats._initialisations import (
    difference_from_initialisations as difference_from_initialisations,
)
from gde.numerics.stats._initialisations import (
    initialisation_error as initialisation_error,
)
from gde.numerics.stats._power import POWER as POWER
from gde.numerics.stats._power import minimum_detectable as minimum_detectable
from gde.numerics.stats._power import minimum_detectable_of as minimum_detectable_of
from gde.numerics.stats._replicates import exchange_replicates as exchange_replicates
from gde.numerics.stats._trends import linear_trend as linear_trend
from gde.numerics.stats._trends import page as page
from gde.numerics.stats._trends import spearman as spearman
