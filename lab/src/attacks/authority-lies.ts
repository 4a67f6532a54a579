/** The attacks of authorities on the service: their aim is that some party cannot continue. */
import type { Attack } from './attack.ts';
import { Q3 } from './dripped-answers.ts';
import { Q1 } from './lying-authority.ts';
import { Q2 } from './slow-votes.ts';

export const LIES: readonly Attack[] = [Q1, Q2, Q3];
