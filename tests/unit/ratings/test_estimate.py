"""The clustered mean against hand-made numbers and plain loops."""

import math
import random
from collections.abc import Sequence

import pytest
from scipy import stats

from tourney.ratings.estimate import Moments, ratio_mean, share


def moments_of(clusters: Sequence[Sequence[float]]) -> Moments:
    gained = [math.fsum(cluster) for cluster in clusters]
    tried = [len(cluster) for cluster in clusters]
    return Moments(
        clusters=len(clusters),
        m=sum(tried),
        x=math.fsum(gained),
        xx=math.fsum(x * x for x in gained),
        xm=math.fsum(x * m for x, m in zip(gained, tried, strict=True)),
        mm=sum(m * m for m in tried),
    )


def test_three_clusters_worked_out_by_hand() -> None:
    # Means: 18 / 6 = 3; residuals 3-6=-3, 7-6=1, 8-6=2; 14 * 3/2 = 21; error sqrt(21) / 6.
    estimate = ratio_mean(moments_of([[1, 2], [3, 4], [4, 4]]))
    assert estimate.mean == 3
    assert estimate.se == pytest.approx(math.sqrt(21) / 6)
    # 4.302653 is the 97.5 % point of Student's t with two degrees of freedom, as in any table.
    assert estimate.high == pytest.approx(3 + 4.302653 * math.sqrt(21) / 6, rel=1e-6)
    assert estimate.low == pytest.approx(3 - 4.302653 * math.sqrt(21) / 6, rel=1e-6)


def test_clusters_of_one_give_the_textbook_error_of_a_mean() -> None:
    lot = random.Random(1)
    values = [lot.gauss(10, 3) for _ in range(40)]
    estimate = ratio_mean(moments_of([[value] for value in values]))
    assert estimate.se == pytest.approx(float(stats.sem(values)))
    low, high = stats.t.interval(0.95, 39, loc=estimate.mean, scale=stats.sem(values))
    assert (estimate.low, estimate.high) == pytest.approx((float(low), float(high)))


def test_matches_of_a_shared_deal_do_not_count_as_independent() -> None:
    lot = random.Random(2)
    lucks = [lot.gauss(0, 5) for _ in range(60)]
    clusters = [[luck + lot.gauss(0, 1) for _ in range(4)] for luck in lucks]
    clustered = ratio_mean(moments_of(clusters)).se
    naive = ratio_mean(moments_of([[x] for cluster in clusters for x in cluster])).se
    assert clustered is not None
    assert naive is not None
    # Four matches of one deal say hardly more than one: the error is nearly sqrt(4) as large.
    assert 1.8 < clustered / naive < 2.05


def test_duplicate_deals_that_cancel_luck_make_the_error_smaller() -> None:
    lot = random.Random(3)
    clusters = []
    for _ in range(60):
        luck = lot.gauss(0, 5)
        clusters.append([luck + lot.gauss(0, 1), -luck + lot.gauss(0, 1)])
    clustered = ratio_mean(moments_of(clusters)).se
    naive = ratio_mean(moments_of([[x] for cluster in clusters for x in cluster])).se
    assert clustered is not None
    assert naive is not None
    assert clustered < naive / 3


def test_one_cluster_has_a_mean_but_no_error() -> None:
    assert ratio_mean(moments_of([[2, 4]])) == (3, None, None, None)
    assert share(moments_of([[1, 1]])) == (1, None, None, None)


def test_nothing_tried_is_refused() -> None:
    with pytest.raises(ValueError, match="no mean"):
        ratio_mean(Moments(0, 0, 0, 0, 0, 0))


def test_equal_clusters_have_no_spread_even_where_rounding_would_show_one() -> None:
    estimate = ratio_mean(moments_of([[0.1, 0.2]] * 7))
    assert estimate.se == pytest.approx(0, abs=1e-9)
    assert estimate.se is not None
    assert not math.isnan(estimate.se)


def test_a_share_stays_between_none_and_all() -> None:
    estimate = share(moments_of([[1, 1], [1, 1], [1, 0]]))
    assert estimate.high == 1
    assert estimate.low is not None
    assert 0 < estimate.low < 5 / 6


@pytest.mark.parametrize("clusters", [2, 10, 100])
def test_all_won_is_not_certain_to_go_on(clusters: int) -> None:
    always = share(moments_of([[1, 1]] * clusters))
    never = share(moments_of([[0, 0]] * clusters))
    # The Clopper-Pearson bound of n successes in n trials.
    exact = stats.binomtest(clusters, clusters).proportion_ci(0.95, "exact")
    assert tuple(always) == pytest.approx((1, 0, float(exact.low), 1))
    assert tuple(never) == pytest.approx((0, 0, 0, 1 - float(exact.low)))


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    lot = random.Random(4)
    hits, trials = 0, 1000
    for _ in range(trials):
        lucks = [lot.gauss(0, 2) for _ in range(8)]
        estimate = ratio_mean(moments_of([[luck + lot.gauss(0, 1)] * 2 for luck in lucks]))
        assert estimate.low is not None
        assert estimate.high is not None
        hits += estimate.low < 0 < estimate.high
    # Three standard errors of a proportion of 0.95 in a thousand trials.
    assert abs(hits / trials - 0.95) < 0.021
