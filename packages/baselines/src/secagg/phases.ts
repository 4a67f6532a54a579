/** The phases of SecAgg and SecAgg+. */
import type { Phase } from '../aggregation.ts';

export const SECAGG_PHASES: readonly Phase[] = [
  { name: 'keys', user: 'draws two key pairs', server: 'draws the graph and tells each user its peers' },
  { name: 'shares', user: 'agrees with each peer; shares and seals its secrets', server: 'routes the sealed shares' },
  { name: 'masked-input', user: 'agrees on a mask with each peer; expands and adds them', server: 'adds y' },
  { name: 'unmasking', user: 'opens the shares it holds', server: 'reconstructs, expands and subtracts' },
];
