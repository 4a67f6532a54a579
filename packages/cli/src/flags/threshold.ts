/** The number of a task's authorities that every step needs, as a flag. */
import { whole } from '../shell/flag.ts';

/** The protocol's limit; repeated here because no package is loaded before a command has its flags. */
export const MAX_AUTHORITIES = 16;

export const thresholdFlag = whole({
  value: 't',
  help: 'number of authorities that every step needs, if there are several',
  min: 1,
  max: MAX_AUTHORITIES,
  without: 'the smallest that tolerates a colluding authority, for example 3 of 4',
});
