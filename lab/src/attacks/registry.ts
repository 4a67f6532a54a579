/** The attacks on the paper's protocol, in the order of the threat model (docs/threat-model.md). */
import type { Attack } from './attack.ts';
import { D1, D2 } from './forged-inboxes.ts';
import { A1, A2 } from './held-keys.ts';
import { B1, B2 } from './late-uploads.ts';
import { E1 } from './replays.ts';
import { I1 } from './resubmissions.ts';
import { C1 } from './retries.ts';
import { G1 } from './stale-versions.ts';
import { H1 } from './wrapped-sums.ts';

export const ATTACKS: readonly Attack[] = [A1, A2, B1, B2, C1, D1, D2, E1, G1, H1, I1];
