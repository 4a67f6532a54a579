/** The numbers of a task's authorities that every step needs and that may collude, as flags. */
import { whole } from '../shell/flag.ts';

/** The protocol's limit; repeated here because no package is loaded before a command has its flags. */
export const MAX_AUTHORITIES = 8;

export const thresholdFlag = whole({
  value: 't',
  help: 'number of authorities that every step needs, if there are several',
  min: 1,
  max: MAX_AUTHORITIES,
  without: '3 of 3 or 4, 4 of 5 or 6, 5 of 7, 6 of 8',
});

export const toleratedFlag = whole({
  value: 'f',
  help: 'number of authorities that may collude with the server',
  max: 2,
  without: '0 of one authority, 1 of up to 6, 2 of 7 or 8',
});
