"""The simulated environment. From the bottom up:

- `segment`, `timers`, `receiver`, `sender`, `socket`, `listener`, `rules`, `network`: the kernel's TCP on one loopback;
- `hosts`, `loop`, `hang_report`, `simulation`: virtual time, and the hosts whose code runs in it;
- `transport`, `endpoints`: what asyncio sees of the network;
- `toxics`, `link`, `proxy`: Toxiproxy;
- `process`, `host_logs`, `brokers`, `levers`, `world`, `environment`: a run.
"""
