/** All attacks of the threat model, in its order. */
import type { Attack } from './attack.ts';
import { LIES } from './authority-lies.ts';
import { D1, D2 } from './forged-inboxes.ts';
import { A1, A2 } from './held-keys.ts';
import { J1 } from './join-tags.ts';
import { B1, B2 } from './late-uploads.ts';
import { O1 } from './mixed-versions.ts';
import { P1 } from './repeated-updates.ts';
import { E1 } from './replays.ts';
import { I1 } from './resubmissions.ts';
import { T1 } from './retired-keys.ts';
import { C1 } from './retries.ts';
import { R1 } from './rolled-back-heads.ts';
import { M1 } from './stale-models.ts';
import { G1 } from './stale-versions.ts';
import { K1, L1 } from './suppressed-updates.ts';
import { N1 } from './two-holders.ts';
import { H1 } from './wrapped-sums.ts';

export const ATTACKS: readonly Attack[] = [
  A1,
  A2,
  B1,
  B2,
  C1,
  D1,
  D2,
  E1,
  G1,
  H1,
  I1,
  J1,
  K1,
  L1,
  M1,
  N1,
  O1,
  P1,
  ...LIES,
  R1,
  T1,
];
