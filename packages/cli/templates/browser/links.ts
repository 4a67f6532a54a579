/** Prints a link for each device, with its token. */
import { readFileSync } from 'node:fs';

const tokens = readFileSync('enrolment/tokens.txt', 'utf8').trim().split('\n');
for (const [device, token] of tokens.entries()) console.log(`http://127.0.0.1:8080/#device=${device}&token=${token}`);
console.log('Open each link in a tab: three tabs are three devices.');
