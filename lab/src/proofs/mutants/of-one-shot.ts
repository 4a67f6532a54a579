/** The rules of the one-shot mode (docs/threat-model.md), row by row of what must not be possible. */
import type { Mutant } from './mutant.ts';

export const MUTANTS_OF_ONE_SHOT: readonly Mutant[] = [
  {
    name: 'a part that is bound to nobody [S1]',
    edits: [
      {
        file: 'wire/one-shot/part-sealing.ts',
        find: 'salt: suite.sha256(context), ',
        replace: 'salt: new Uint8Array(32), ',
      },
      { file: 'wire/one-shot/part-sealing.ts', find: ', context };', replace: ', context: Uint8Array.of(part) };' },
      {
        file: 'wire/one-shot/part-sealing.ts',
        find: 'salt: contextLayout.hash(suite, { ...pick(name), part })',
        replace: 'salt: suite.sha256(Uint8Array.of(part))',
      },
    ],
    caughtBy: "a colluder's upload has the sealed part of a victim",
  },
  {
    name: 'an upload voted for twice [S2]',
    edits: [
      {
        file: 'authority/one-shot/judge.ts',
        find: "return isElsewhere ? refused('upload-used') : undefined;",
        replace: 'return isElsewhere ? undefined : undefined;',
      },
    ],
    caughtBy: 'one upload is in two batches',
  },
  {
    name: 'votes for the number of a batch, and not for its uploads',
    edits: [
      {
        file: 'wire/one-shot/batch.ts',
        find: 'return batchCodec.hash(suite, batch) as Ctx;',
        replace: 'return batchCodec.hash(suite, { ...batch, uploads: [] }) as Ctx;',
      },
    ],
    caughtBy: 'a batch has the number of another that was voted for',
  },
  {
    name: 'a batch released without enough votes [S3]',
    edits: [
      {
        file: 'authority/one-shot/vote.ts',
        find: 'if (good.length < threshold) return',
        replace: 'if (good.length < 0) return',
      },
    ],
    caughtBy: 'every authority is told another batch, and asked to release it',
  },
  {
    name: 'a threshold that one colluding authority defeats [S4]',
    edits: [
      {
        file: 'wire/one-shot/policy.ts',
        find: 'if (2 * threshold <= count + tolerated)',
        replace: 'if (2 * threshold <= 0)',
      },
    ],
    caughtBy: 'two of four authorities are enough',
  },
  {
    name: 'a batch with too few devices [S5]',
    edits: [
      {
        file: 'wire/one-shot/batch-rules.ts',
        find: 'if (headers.length < minimum)',
        replace: 'if (headers.length < 1)',
      },
    ],
    caughtBy: 'a batch has fewer devices than the policy wants',
  },
  {
    name: 'one device twice in a batch [S6]',
    edits: [
      { file: 'wire/one-shot/batch-rules.ts', find: 'if (repeated.length > 0)', replace: 'if (repeated.length < 0)' },
    ],
    caughtBy: 'one colluder fills a batch',
  },
  {
    name: 'two updates of a device on one version [S7]',
    edits: [
      {
        file: 'authority/one-shot/judge.ts',
        find: '[...used, ...given].some(',
        replace: '[...used, ...given.slice(given.length)].some(',
      },
    ],
    caughtBy: 'a device gives two updates on one version',
  },
  {
    name: 'sealed parts not held to the signed header [S8]',
    edits: [
      {
        file: 'authority/one-shot/examine.ts',
        find: "return equalBytes(suite.sha256(sealed), partsHash) ? undefined : refused('body-mismatch');",
        replace: "return suite.sha256(sealed).length === partsHash.length ? undefined : refused('body-mismatch');",
      },
    ],
    caughtBy: "the server's own parts stand under the headers of all but one",
  },
  {
    name: 'two models in one batch [S9]',
    edits: [
      { file: 'wire/one-shot/batch-rules.ts', find: 'if (others.length > 0)', replace: 'if (others.length < 0)' },
    ],
    caughtBy: 'a batch has updates on two models',
  },
  {
    name: 'parts that every authority holds [S10]',
    edits: [
      { file: 'wire/one-shot/parts.ts', find: 'if (bitsOf(mask) === tolerated)', replace: 'if (bitsOf(mask) === 0)' },
    ],
    caughtBy: 'an authority on the side of the server opens what it holds',
  },
  {
    name: 'only its own copy of a seed compared [S11]',
    edits: [
      {
        file: 'packages/masking/src/slot-keys.ts',
        find: 'isSame = equalBytes(xor(again[place] as Uint8Array, pad), paddedShare(sealed, place)) && isSame;',
        replace: 'isSame = pad.length > 0 && isSame;',
      },
    ],
    caughtBy: 'a colluder deals a part that only some holders can open',
  },
  {
    name: 'a sum of masks that one authority vouches for [S12]',
    edits: [
      {
        file: 'wire/one-shot/policy.ts',
        find: 'return uncheckedSums ? 1 : tolerated + 1;',
        replace: 'return uncheckedSums ? 1 : tolerated + 1 - tolerated;',
      },
    ],
    caughtBy: 'an authority signs a sum of masks that is none',
  },
  {
    name: 'epochs that outlive a restore [S13]',
    edits: [
      {
        file: 'authority/attribute-authority.ts',
        find: '...deadEpochs(this.#state.epochs, this.liveEpochs, now),',
        replace: '...deadEpochs(this.#state.epochs, [], now),',
      },
    ],
    caughtBy: 'an authority is restored to before its vote, and asked for another batch',
  },
  {
    name: 'an outcome of another epoch [S14]',
    edits: [
      {
        file: 'user/one-shot/outcome.ts',
        find: 'equalBytes(outcome.statement, named.statement) &&',
        replace: '',
      },
    ],
    caughtBy: 'an upload is called expired by the statement of another epoch',
  },
  {
    name: 'a time that goes back past a record [S15]',
    edits: [
      {
        file: 'authority/one-shot/epoch-book.ts',
        find: 'return millis(Math.max(now, this.#floor));',
        replace: 'return millis(now);',
      },
    ],
    caughtBy: 'the clock of an authority steps back',
  },
  {
    name: 'a vote for what was called expired, behind the votes of others [S16]',
    edits: [
      {
        file: 'authority/one-shot/judge.ts',
        find: "if (used.some((entry) => isExpired(entry, authority, header))) return refused('upload-expired');",
        replace: '',
      },
      {
        file: 'authority/one-shot/judge.ts',
        find: '[...used, ...given].some(',
        replace: "[...used, ...given].filter(({ kind }) => kind !== 'upload-expired').some(",
      },
    ],
    caughtBy: 'what was called expired is voted for behind the votes of others',
  },
  {
    name: 'a vote in a dead epoch, behind the votes of others [S22]',
    edits: [
      {
        file: 'authority/one-shot/judge.ts',
        find: `if (epoch === undefined || !isOneShot(task.policy)) return refused('epoch-over');
  const isInTime = isBacked || at < epoch.closes +`,
        replace: `if ((epoch === undefined && !isBacked) || !isOneShot(task.policy)) return refused('epoch-over');
  const isInTime = isBacked || at < (epoch?.closes ?? 0) +`,
      },
      {
        file: 'packages/simulator/src/federation/one-shot-authority.ts',
        find: 'this.#examined.clear();',
        replace: '',
      },
    ],
    caughtBy: 'an authority is restored to before its vote, and shown the votes of others for another batch',
  },
  {
    name: 'an epoch released after its end [S17]',
    edits: [
      {
        file: 'authority/one-shot/epochs.ts',
        find: 'const isOver = oneShot !== undefined && at >= epochEnd(oneShot, live.epoch);',
        replace: 'const isOver = oneShot !== undefined && at < 0;',
      },
    ],
    caughtBy: 'an epoch that was given up is released',
  },
  {
    name: 'noise that the server can make [S18]',
    edits: [
      {
        file: 'authority/one-shot/noise.ts',
        find: 'suite.hkdf({ secret, salt: ctx,',
        replace: 'suite.hkdf({ secret: secret.map(() => 0), salt: ctx,',
      },
    ],
    caughtBy: 'the server takes off the noise that the authority added',
  },
  {
    name: 'other words than the guards told at inspection [S19]',
    edits: [
      {
        file: 'authority/one-shot/examine.ts',
        find: 'salt: header.joinTag, terms: [term] }, tools);',
        replace: 'salt: header.joinTag, terms: [term], firstWord: 16 }, tools);',
      },
    ],
    caughtBy: 'the server reads what authorities tell of an upload that they inspect',
  },
  {
    name: 'an upload that is not marked before it leaves [S20]',
    edits: [
      {
        file: 'user/one-shot/shot.ts',
        find: "yield* ask('durable', { step });\n  return { device: step.state, body: concatBytes(vector, sealed) };",
        replace: 'return { device: step.state, body: concatBytes(vector, sealed) };',
      },
    ],
    caughtBy: 'a device crashes when its upload has left, and gives its update again',
  },
  {
    name: 'an outcome of too few authorities [S21]',
    edits: [
      {
        file: 'user/one-shot/outcome.ts',
        find: 'if (alike.size >= question.council.threshold) return status;',
        replace: 'if (alike.size >= 1) return status;',
      },
    ],
    caughtBy: 'the server says "expired"',
  },
];
