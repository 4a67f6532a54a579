/** The rules of succession (docs/threat-model.md), without which the terms of a task can be forged. */
import type { Mutant } from './mutant.ts';

const TERM = 'wire/term.ts';
const AUTHORITY = 'authority/succession.ts';
const DEVICE = 'user/terms.ts';

export const MUTANTS_OF_SUCCESSION: readonly Mutant[] = [
  {
    name: 'a term of too few seats',
    edits: [{ file: TERM, find: 'signed >= threshold && (', replace: 'signed >= 0 && (' }],
    caughtBy: 'one seat signs a term by itself',
  },
  {
    name: 'a seat counted more than once',
    edits: [
      {
        file: 'wire/council.ts',
        find: 'authority <= (all[n - 1]?.authority ?? -1)',
        replace: 'authority < (all[n - 1]?.authority ?? -1)',
      },
      { file: 'wire/council.ts', find: 'if (!isRising) return false;', replace: '' },
    ],
    caughtBy: 'one seat signs a term three times',
  },
  {
    name: 'a new key that did not accept its seat',
    edits: [
      {
        file: TERM,
        find: 'return suite.verify({ signature: term.accepted, message, publicKey: term.key });',
        replace: 'return message.length > 0;',
      },
    ],
    caughtBy: 'the owner of a key did not accept the seat',
  },
  {
    name: 'a key with two roles',
    edits: [
      {
        file: TERM,
        find: "if (taken.some((key) => equalBytes(key, term.key))) return bad('its key has or had a role in this task');",
        replace: '',
      },
    ],
    caughtBy: 'a seat is given to the key of another seat',
  },
  {
    name: 'terms without a wait between them',
    edits: [{ file: TERM, find: 'return term.effective >= earliest ?', replace: 'return earliest >= 0 ?' }],
    caughtBy: 'two seats are replaced at the same time',
  },
  {
    name: 'a new key of the server without enough seats',
    edits: [{ file: TERM, find: 'const isByAllOthers = isOfAuthority &&', replace: 'const isByAllOthers =' }],
    caughtBy: 'all but one of three seats give the role of the server away, with the recovery key',
  },
  {
    name: 'a single authority replaced without the recovery key',
    edits: [{ file: TERM, find: ' && (authorities.length > 1 || isRecovered);', replace: ';' }],
    caughtBy: 'the key of a single authority is stolen',
  },
  {
    name: 'no wait by the clock of the device',
    edits: [
      { file: DEVICE, find: 'if (authorities.length > 1) return term.effective;', replace: 'return term.effective;' },
    ],
    caughtBy: 'the recovery key of a single authority is stolen',
  },
  {
    name: 'a device that was away for too long',
    edits: [
      {
        file: DEVICE,
        find: "if (followed > trusted && isLate(policy, heardAt, now)) return refused('term-late');",
        replace: '',
      },
    ],
    caughtBy: 'three keys are stolen after they were replaced',
  },
  {
    name: 'a device that goes back',
    edits: [
      {
        file: DEVICE,
        find: 'seen: [...device.seen, ...added] }',
        replace: 'seen: [...device.seen.slice(0, line.terms.length), ...added] }',
      },
    ],
    caughtBy: 'a device is shown a shorter line',
  },
  {
    name: 'numbers that a term leaves behind',
    edits: [
      { file: DEVICE, find: 'from.followed === to.followed ? ledger :', replace: 'from !== undefined ? ledger :' },
    ],
    caughtBy: 'a stolen key signs a number that its successor never reaches',
  },
  {
    name: 'a contradicting line',
    edits: [{ file: DEVICE, find: "if (!device.seen.every(isSame)) return refused('term-forked');", replace: '' }],
    caughtBy: 'a device is shown a longer line that contradicts its own',
  },
  {
    name: 'two successors for one term',
    edits: [
      {
        file: AUTHORITY,
        find: "if (isBound && !equalBytes(bound.hash, hash)) return declined(task, refused('term-signed'));",
        replace: '',
      },
    ],
    caughtBy: 'an authority is asked to sign a second successor',
  },
  {
    name: 'a successor that is not recorded before it is signed',
    edits: [
      { file: AUTHORITY, find: 'records: [entry], answer, events: []', replace: 'records: [], answer, events: []' },
    ],
    caughtBy: 'an authority restarts before it is asked for a second successor',
  },
  {
    name: 'a term signed without a wait',
    edits: [{ file: AUTHORITY, find: 'if (term.effective < earliest)', replace: 'if (earliest < 0)' }],
    caughtBy: 'an authority is asked to sign a term that begins at once',
  },
  {
    name: 'an adopted term replaced by another one',
    edits: [
      {
        file: AUTHORITY,
        find: "if (other >= 0) return declined(task, refused('term-signed',",
        replace: "if (other < -1) return declined(task, refused('term-signed',",
      },
      {
        file: AUTHORITY,
        find: 'if (term === undefined || task.next !== undefined)',
        replace: 'if (term === undefined)',
      },
    ],
    caughtBy: 'an authority is shown another term in place of the one it adopted',
  },
  {
    name: 'a task joined without an accepted seat',
    edits: [
      {
        file: AUTHORITY,
        find: "if (own === undefined) return declined(undefined, refused('no-seat'));\n  if (!equalBytes(own.task, task) ||",
        replace: 'if (own !== undefined &&',
      },
    ],
    caughtBy: 'a stranger names the key of an authority in a task of its own',
  },
  {
    name: 'open buffers that outlive their term',
    engine: 'slot keys',
    edits: [
      {
        file: AUTHORITY,
        find: "...buffers.map(({ ctx }): AuthorityRecord => ({ kind: 'buffer-unknown', ctx })),",
        replace: '',
      },
    ],
    caughtBy: 'a buffer of the term before is closed again',
  },
  {
    name: 'statements that do not name their term',
    edits: [
      { file: 'wire/council.ts', find: 'return term === undefined ? statement :', replace: 'return statement ?? ' },
    ],
    caughtBy: 'votes of the term before are shown again',
  },
  {
    name: 'versions without sums in a term, without a limit',
    edits: [
      {
        file: 'authority/task.ts',
        find: 'if (isRepeat && newest?.version !== repeatable)',
        replace: 'if (isRepeat && repeatable === undefined)',
      },
    ],
    caughtBy: 'a server makes a second version without sums in a term',
  },
];
