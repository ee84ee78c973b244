"""The simulated environment. From the bottom up:

- `segment`, `timers`, `receiver`, `sender`, `socket`, `listener`, `rules`, `network`: the kernel's TCP on one loopback;
- `hosts`, `loop`, `hung`, `simulation`: virtual time, and whose code runs in it;
- `transport`, `endpoints`: what asyncio sees of the network;
- `toxics`, `link`, `proxy`: Toxiproxy;
- `process`, `stderr`, `pulling`, `world`, `environment`: a run.
"""
