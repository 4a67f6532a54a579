/** Rules of the cores that the table of the protocol does not list. */
import { keyHashNotCompared, type Mutant } from './mutant.ts';

export const MUTANTS_OF_THE_CORES: readonly Mutant[] = [
  {
    name: 'no self mask',
    edits: [{ file: 'user/upload.ts', find: '{ seed: self, sign: 1 },', replace: '' }],
    caughtBy: 'an upload comes too late',
  },
  {
    name: 'a slot is given to a second user',
    edits: [
      {
        file: 'authority/issue-key.ts',
        find: "if (buffer.slots.has(slot)) return refused('slot-registered', { slots: [slot] });",
        replace: '',
      },
    ],
    caughtBy: 'a slot is given to another after its key was issued',
  },
  {
    name: 'an update is sent again without a signed outcome',
    edits: [
      {
        file: 'user/ledger.ts',
        find: "if (outcome.status !== 'closed') return refused('outcome-undecided');",
        replace: "if (outcome.status !== 'closed') return { kind: 'free' };",
      },
    ],
    caughtBy: 'an open buffer is asked for, and the update taken elsewhere',
  },
  {
    name: 'a key is issued again to another request',
    edits: [
      {
        file: 'authority/issue-key.ts',
        find: "buffer.status !== 'unknown' && equalBytes(registered.requestDigest, requestDigest)",
        replace: "buffer.status !== 'unknown'",
      },
    ],
    caughtBy: 'a colluder asks for the key of a slot that is taken',
  },
  {
    name: 'the chain of earlier slots is not checked [R4]',
    edits: [
      {
        file: 'authority/close.ts',
        find: ' &&\n    equalBytes(issued.root, root) &&\n    equalBytes(issued.view, view)',
        replace: ' &&\n    equalBytes(issued.root, root)',
      },
      { file: 'authority/close.ts', find: 'equalBytes(header.view, view) &&', replace: '' },
      {
        file: 'wire/closing.ts',
        find: 'registration: registrationOf(suite, own)',
        replace: 'registration: registrationOf(suite, headers.find((header) => header.slot === slot)!.receipt)',
      },
    ],
    caughtBy: 'the last user is told a made-up inbox and asks first',
  },
  {
    name: 'both ends of a void edge are accepted',
    edits: [keyHashNotCompared, { file: 'authority/close.ts', find: ' ?? voidProblem(request);', replace: ';' }],
    caughtBy: 'a key that opens nothing, and everybody is accepted',
  },
  {
    name: 'attributes are used in two buffers',
    edits: [
      {
        file: 'wire/naming.ts',
        find: '{ ctx, role: EDGE, slot, registration: NO_REGISTRATION }',
        replace: '{ ctx: NO_REGISTRATION as never, role: EDGE, slot, registration: NO_REGISTRATION }',
      },
    ],
    caughtBy: 'a colluder keeps its key for the next buffer',
  },
  {
    name: 'the server asks for a close before it has frozen the buffer [R20]',
    edits: [
      {
        file: 'server/close.ts',
        find: "if (buffer.status === 'filling' || isLost(buffer)) return refused('not-frozen');",
        replace:
          "if (buffer.status === 'filling') buffer = { ...buffer, accepted: buffer.slots.filter(({ status }) => status === 'accepted').map(({ ticket }) => ticket.slot) };",
      },
    ],
    caughtBy: 'the server asks for the close, crashes, and takes another upload',
  },
  {
    name: 'an outcome that only the server signed',
    edits: [
      {
        file: 'wire/outcome.ts',
        find: 'return equalBytes(outcome.ctx, wanted) && isSignedBySeat(suite, outcomeCodec, seats, authority, outcome);',
        replace: 'return equalBytes(outcome.ctx, wanted) && seats.authorities[authority] !== undefined;',
      },
    ],
    caughtBy: 'the server says "aborted"',
  },
  {
    name: 'the inbox is not proved',
    edits: [{ file: 'user/slot.ts', find: '(isAtSlot(ports, member, entry, ticket) ? [] : [i])', replace: '[]' }],
    caughtBy: 'forged seeds behind the true roots',
  },
  {
    name: 'a buffer is closed with too few slots',
    edits: [
      { file: 'authority/close.ts', find: 'accepted.length < descriptor.minimum', replace: 'accepted.length < 1' },
    ],
    caughtBy: 'closed with one upload',
  },
  {
    name: 'the upload has another input than the fixed one',
    edits: [
      {
        file: 'user/upload.ts',
        find: 'if (!equalBytes(inputDigestOf(suite, input), member.inputDigest))',
        replace: 'if (inputDigestOf(suite, input).length === 0)',
      },
      {
        file: 'user/contribute.ts',
        find: 'if (!equalBytes(bodyHashOf(ports.suite, masked, session.parts), session.header.bodyHash)) {',
        replace:
          'if (!equalBytes(bodyHashOf(ports.suite, masked, session.parts), bodyHashOf(ports.suite, masked, session.parts))) {',
      },
    ],
    caughtBy: 'the update is quantised again between two uploads',
  },
];
