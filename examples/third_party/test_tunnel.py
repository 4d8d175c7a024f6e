"""The plugin keeps gde's contract."""

import gde_tunnel

from gde.testing import check_environment, check_metric, check_plugin, check_probe


def test_contract() -> None:
    check_plugin(gde_tunnel)
    check_environment(lambda: gde_tunnel.Tunnel(gde_tunnel.TunnelConfig()))
    check_metric(lambda: gde_tunnel.leftness)
    check_probe(gde_tunnel.TreasureProbe)
