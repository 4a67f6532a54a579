/** `npm run write -- refusals`: writes the table of refusals that the client in Python carries. */
import { writeFileSync } from 'node:fs';
import { REFUSALS_FILE, refusalTable } from '@basa/testkit/vectors/refusals.ts';

writeFileSync(new URL(`../${REFUSALS_FILE}`, import.meta.url), refusalTable());
console.log(REFUSALS_FILE);
