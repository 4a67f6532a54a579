/**
 * Cores that lack one rule each, as patches of the source: for each attack on the one-shot mode, the edits that remove the check
 * which stops it (docs/evidence.md). `find` must occur exactly once in its file, so that the list stays in step with the code.
 * If two or three checks enforce one rule, the mutant leaves out all of them. Any one of these checks is enough to stop the
 * attack: `npm run lab -- prove mutants` and the tests verify this for every edit.
 */
import { ONE_SHOT_ATTACKS } from '../../attacks/one-shot/registry.ts';
import type { ShotAttack } from '../../attacks/one-shot/shot-scene.ts';

export interface Edit {
  /** Below packages/protocol/src, or from the root if it starts with packages/. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The attack that then succeeds. */
  readonly attack: ShotAttack;
}

/** By the id of the rule. */
const EDITS: Readonly<Record<string, readonly Edit[]>> = {
  S1: [
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
  S2: [
    {
      file: 'authority/one-shot/judge.ts',
      find: "return isElsewhere ? refused('upload-used') : undefined;",
      replace: 'return isElsewhere ? undefined : undefined;',
    },
  ],
  S3: [
    {
      file: 'authority/one-shot/vote.ts',
      find: 'if (good.length < threshold) return',
      replace: 'if (good.length < 0) return',
    },
  ],
  S4: [
    {
      file: 'wire/one-shot/policy.ts',
      find: 'if (2 * threshold <= count + tolerated)',
      replace: 'if (2 * threshold <= 0)',
    },
  ],
  S5: [
    {
      file: 'wire/one-shot/batch-rules.ts',
      find: 'if (headers.length < minimum)',
      replace: 'if (headers.length < 1)',
    },
  ],
  S6: [{ file: 'wire/one-shot/batch-rules.ts', find: 'if (repeated.length > 0)', replace: 'if (repeated.length < 0)' }],
  S7: [
    {
      file: 'authority/one-shot/judge.ts',
      find: '[...used, ...given].some(',
      replace: '[...used, ...given.slice(given.length)].some(',
    },
  ],
  S8: [
    {
      file: 'authority/one-shot/examine.ts',
      find: 'return hash !== undefined && equalBytes(hash, partsHash) ?',
      replace: 'return hash !== undefined && hash.length === partsHash.length ?',
    },
  ],
  S9: [{ file: 'wire/one-shot/batch-rules.ts', find: 'if (others.length > 0)', replace: 'if (others.length < 0)' }],
  S10: [{ file: 'wire/one-shot/parts.ts', find: 'if (tolerated === 0) return [0];', replace: 'return [0];' }],
  S11: [
    {
      file: 'packages/masking/src/holder-sealing.ts',
      find: 'isSame = copy !== undefined && equalBytes(copy, copyOf(sealed, other));',
      replace: 'isSame = copy !== undefined;',
    },
  ],
  S12: [
    {
      file: 'wire/one-shot/policy.ts',
      find: 'return tolerated + 1;',
      replace: 'return tolerated + 1 - tolerated;',
    },
  ],
  S13: [
    {
      file: 'authority/rollback.ts',
      find: 'deadEpochs(state.epochs, state.epochs.all, now)',
      replace: 'deadEpochs(state.epochs, [], now)',
    },
  ],
  S15: [
    {
      file: 'authority/one-shot/epoch-book.ts',
      find: 'return millis(Math.max(now, this.#floor));',
      replace: 'return millis(now);',
    },
  ],
  S17: [
    {
      file: 'authority/one-shot/epochs.ts',
      find: 'const isOver = oneShot !== undefined && at >= epochEnd(oneShot, live.epoch);',
      replace: 'const isOver = oneShot !== undefined && at < 0;',
    },
  ],
  S18: [
    {
      file: 'authority/one-shot/noise.ts',
      find: 'suite.hkdf({ secret, salt: ctx,',
      replace: 'suite.hkdf({ secret: secret.map(() => 0), salt: ctx,',
    },
  ],
  S19: [
    {
      file: 'authority/one-shot/examine.ts',
      find: 'salt: header.joinTag, terms: [term] }, tools);',
      replace: 'salt: header.joinTag, terms: [term], firstWord: 16 }, tools);',
    },
  ],
  S20: [
    {
      file: 'user/one-shot/shot.ts',
      find: "  yield* ask('durable', { step, body });\n",
      replace: '',
    },
  ],
  S22: [
    {
      file: 'authority/one-shot/judge.ts',
      find: `if (epoch === undefined || !isOneShot(task.policy)) return refused('epoch-over');
  const isInTime = isBacked || at < epoch.closes +`,
      replace: `if ((epoch === undefined && !isBacked) || !isOneShot(task.policy)) return refused('epoch-over');
  const isInTime = isBacked || at < (epoch?.closes ?? 0) +`,
    },
    {
      file: 'packages/simulator/src/federation/one-shot-authority.ts',
      find: 'this.examined.clear();',
      replace: '',
    },
  ],
  S23: [
    {
      file: 'wire/one-shot/batch.ts',
      find: 'return batchCodec.hash(suite, batch) as Ctx;',
      replace: 'return batchCodec.hash(suite, { ...batch, uploads: [] }) as Ctx;',
    },
  ],
  S24: [
    {
      file: 'packages/masking/src/hybrid-sealing.ts',
      find: 'if (equalBytes(again as Uint8Array, sealed)) return seed;',
      replace: 'if (equalBytes((again as Uint8Array).subarray(0, 32), sealed.subarray(0, 32))) return seed;',
    },
  ],
  S25: [
    {
      file: 'packages/masking/src/hybrid-sealing.ts',
      find: 'return suite.hkdf({ secret: seed, salt, info, length: SEED_BYTES });',
      replace: 'return suite.hkdf({ secret: seed.map(() => 0), salt, info, length: SEED_BYTES });',
    },
  ],
  S26: [
    {
      file: 'wire/one-shot/epoch.ts',
      find: 'kemKey !== undefined && isKemKey(kemKey)',
      replace: 'kemKey !== undefined && (isKemKey(kemKey) || kemKey.length > 0)',
    },
  ],
  S27: [
    {
      file: 'wire/council.ts',
      find: 'return statement.endorsements.length >= council.threshold && has',
      replace: 'return statement.endorsements.length >= 1 && has',
    },
    {
      file: 'authority/one-shot/judge.ts',
      find: "if (device === undefined && !isBacked) return refused('not-enrolled');",
      replace: '',
    },
  ],
  S28: [
    {
      file: 'wire/council.ts',
      find: 'authority <= (all[n - 1]?.authority ?? -1)',
      replace: 'authority < (all[n - 1]?.authority ?? -1)',
    },
    { file: 'wire/council.ts', find: 'if (!isRising) return false;', replace: '' },
  ],
  S29: [
    {
      file: 'authority/task.ts',
      find: "(isMember ? undefined : 'the policy does not name this authority')",
      replace: '(isMember ? undefined : undefined)',
    },
  ],
  S30: [
    { file: 'wire/one-shot/epoch.ts', find: 'return isAgreementKey(key) && (', replace: 'return key.length > 0 && (' },
  ],
  S31: [
    {
      file: 'user/one-shot/standings.ts',
      find: 'isEndorsed(suite, modelEntryCodec, policy, entry);',
      replace: 'isEndorsed(suite, modelEntryCodec, { ...policy, threshold: 1 }, entry);',
    },
  ],
  S32: [
    {
      file: 'user/one-shot/standings.ts',
      find: 'if (entry.version < seen)',
      replace: 'if (entry.version + seen < 0)',
    },
    {
      file: 'user/one-shot/standings.ts',
      find: 'if (isPast(head, authority)) return',
      replace: 'if (isPast(head, authority) && at < 0) return',
    },
  ],
  S33: [
    {
      file: 'user/ledger.ts',
      find: 'if (given === undefined || version > given.version) return undefined;',
      replace: 'if (given === undefined || version >= 0) return undefined;',
    },
    {
      file: 'authority/one-shot/judge.ts',
      find: '[...used, ...given].some(',
      replace: '[...used, ...given.slice(given.length)].some(',
    },
  ],
  S34: [
    {
      file: 'user/budget.ts',
      find: 'uploads < privacy.participations)',
      replace: 'uploads >= 0)',
    },
    {
      file: 'authority/one-shot/judge.ts',
      find: 'return state.inclusions.problem(task.id, task.policy.privacy, user);',
      replace: 'return state.inclusions.problem(task.id, undefined, user);',
    },
  ],
  S35: [
    {
      file: 'authority/one-shot/judge.ts',
      find: "if (device?.revoked && at >= (device.revokedAt ?? 0) + slack) return refused('revoked');",
      replace: '',
    },
  ],
  S36: [
    {
      file: 'server/judge-sum.ts',
      find: 'return offender < 0 ? undefined :',
      replace: 'return offender < 0 || first >= 0 ? undefined :',
    },
  ],
  S37: [
    {
      file: 'wire/input-words.ts',
      find: 'weightSum > accepted * weightScale)',
      replace: 'weightSum < 0)',
    },
  ],
};

export const MUTANTS: readonly Mutant[] = ONE_SHOT_ATTACKS.map((attack) => ({
  name: `${attack.without} [${attack.id}]`,
  edits: EDITS[attack.id] ?? [],
  attack,
}));
