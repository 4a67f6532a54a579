/** The rules that stand between a server and several authorities (docs/threat-model.md). */
import type { Mutant } from './mutant.ts';

export const MUTANTS_OF_COUNCILS: readonly Mutant[] = [
  {
    name: 'keys are released without t votes',
    engine: 'slot keys',
    edits: [
      {
        file: 'authority/close.ts',
        find: 'if (isDecided || others + 1 >= descriptor.threshold) return',
        replace: 'if (isDecided || others + 1 >= 0) return',
      },
    ],
    caughtBy: 'every authority is told another set',
  },
  {
    name: 'a descriptor has a part that its owner did not sign',
    engine: 'slot keys',
    edits: [
      {
        file: 'user/seat.ts',
        find: `    isEndorsed(suite, descriptorCodec, policy, descriptor) &&
    parts.length === endorsements.length &&
    parts.every(({ authority }, n) => authority === endorsements[n]?.authority)`,
        replace: 'isEndorsed(suite, descriptorCodec, policy, descriptor) && parts.length >= endorsements.length',
      },
    ],
    caughtBy: 'the part of an authority that is away is the work of the server',
  },
  {
    name: 'an authority votes against its own record because of receipts',
    engine: 'slot keys',
    edits: [
      {
        file: 'authority/close.ts',
        find: 'if (issued !== undefined && !isSameRegistration(issued, entry)) return false;',
        replace: '',
      },
    ],
    caughtBy: 'a close names another user than one authority registered',
  },
  {
    name: 'an authority releases keys against its own record because of votes',
    engine: 'slot keys',
    edits: [
      {
        file: 'authority/close.ts',
        find: 'return issued === undefined || isSameRegistration(issued, entry) ? [] : [entry.slot];',
        replace: 'return issued === undefined || issued !== undefined ? [] : [entry.slot];',
      },
    ],
    caughtBy: 'a close names another user than one authority registered',
  },
  {
    name: 'an offer is used twice',
    engine: 'slot keys',
    edits: [
      {
        file: 'authority/offers.ts',
        find: 'if (part !== undefined) this.#open.delete(toHex(part.offer));',
        replace: 'if (part === undefined) this.#open.clear();',
      },
    ],
    caughtBy: 'the offers of one buffer are drawn with again',
  },
];
