/** Figures from the literature, for comparison: other machines, other languages; some from memory, to be checked. */

const AS_RECALLED = 'as recalled; check';

/** Source, setting, figure, standing. */
export const PUBLISHED: readonly (readonly [string, string, string, string])[] = [
  ['Bonawitz 2017, Java', 'n = 500, d = 100k, 0 %', 'user 849 ms, server 2018 ms', 'totals as in a reading note'],
  ['Bonawitz 2017, Java', 'n = 500, d = 100k, 10 %', 'server 62,239 ms', 'totals as in a reading note'],
  ['Bonawitz 2017, Java', 'n = 500, d = 100k, 30 %', 'server 143,389 ms', 'totals as in a reading note'],
  ['Bonawitz 2017, Java', 'n = 1000, d = 100k, 0 %', 'user 1699 ms, server 4887 ms', 'totals as in a reading note'],
  ['LightSecAgg 2022, EC2', 'N = 200, d = 1.2M, 10 / 30 / 50 %', 'recovery 40.9 / 40.7 / 64.5 s', AS_RECALLED],
  ['LightSecAgg 2022, EC2', 'N = 200, d = 1.2M, 10 / 30 / 50 %', 'SecAgg recovery 911 / 1499 / 2087 s', AS_RECALLED],
  ['LightSecAgg 2022, EC2', 'N = 200, d = 1.2M, 10 / 30 / 50 %', 'SecAgg+ recovery 379 / 437 / 496 s', AS_RECALLED],
  ['FedML LightSecAgg', 'N = 100, d = 1M', 'encode 848 ms, decode 1206 ms', 'measured by us on a Xeon, another day'],
  ['Flower SecAgg+ client', 'K = 10, d = 1M', '193 ms', 'measured by us on a Xeon, another day'],
];
