/** The algebra of the baselines against numbers that were computed with pencil and paper from the formulas of their papers. */
import { FIELD, FIELD_PRIME, type MaskPlan } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { type CombinationKernel, plainCombinationKernel } from '../src/field/combination-kernel.ts';
import { interpolation, primeField, reconstructElements, shareElements } from '../src/field/field.ts';
import { MaskCode } from '../src/lightsecagg/mask-code.ts';
import { secAggParameters } from '../src/secagg/parameters.ts';
import { SecAggUser } from '../src/secagg/user.ts';
import { seededBytes } from './support.ts';

const ELEVEN = primeField(11);

describe('Shamir 1979', () => {
  it('shares 5 with f(x) = 5 + 3x modulo 11 as 8, 0 and 3, and any two of them give 5', () => {
    const scheme = { threshold: 2, points: [1, 2, 3] };
    const shares = shareElements(ELEVEN, Uint32Array.of(5), scheme, () => Uint32Array.of(3));
    expect(shares.map(([share]) => share)).toEqual([8, 0, 3]);
    // lambda_2 = 3 / (3 - 2) = 3 and lambda_3 = 2 / (2 - 3) = -2 = 9: 3 * 0 + 9 * 3 = 27 = 5.
    const coefficients = interpolation(ELEVEN, [2, 3]).coefficientsAt(0);
    expect([...coefficients]).toEqual([3, 9]);
    expect([...reconstructElements(ELEVEN, coefficients, shares.slice(1))]).toEqual([5]);
  });
});

describe('SecAgg (Bonawitz et al. 2017, section 4.0.1)', () => {
  // y_u = x_u + PRG(b_u) + sum_{u<v} PRG(s_uv) - sum_{u>v} PRG(s_uv)
  it('user 1 of 0, 1, 2 adds its own mask, subtracts that with user 0 and adds that with user 2', () => {
    const base = { session: new Uint8Array(32), modulus: FIELD };
    const users = [0, 1, 2].map(
      (id) => new SecAggUser(id, secAggParameters(3, base), { suite: nodeSuite, randomBytes: seededBytes(id) }),
    );
    const roster = users.map((user) => user.advertise());
    const shared = users.map((user) => {
      const shares = user.share(roster);
      if (shares.kind !== 'shares') throw new Error(shares.reason);
      return shares.shares;
    });
    const plans = users.map((user, id): MaskPlan => {
      const inbox = shared.flatMap((shares, peer) =>
        shares.filter((one) => one.peer === id).map(({ sealed }) => ({ peer, sealed })),
      );
      const masked = user.mask(inbox);
      if (masked.kind !== 'plan') throw new Error(masked.reason);
      return masked.plan;
    });
    expect(plans.map(({ terms }) => terms.map(({ sign }) => sign))).toEqual([
      [1, 1, 1],
      [1, -1, 1],
      [1, -1, -1],
    ]);
    // The two ends of an edge have the same seed, so that the pair of terms is zero in the sum.
    const seedOf = (user: number, term: number): Uint8Array | undefined => plans[user]?.terms[term]?.seed.reveal();
    expect(seedOf(0, 1)).toEqual(seedOf(1, 1));
    expect(seedOf(0, 2)).toEqual(seedOf(2, 1));
    expect(seedOf(1, 2)).toEqual(seedOf(2, 2));
  });
});

describe('LightSecAgg (So et al. 2022, section 4.1)', () => {
  // N = 3, U = 2, T = 1 modulo 11: alpha = 4, 5 and beta = 1, 2, 3. W[., j] = ((beta_j - 5) / (4 - 5), (beta_j - 4) / (5 - 4)).
  const code = new MaskCode({ users: 3, survivors: 2, privacy: 1 }, ELEVEN);

  it('has the matrix (4, 8), (3, 9), (2, 10)', () => {
    expect(code.rows.map((row) => [...row])).toEqual([
      [4, 8],
      [3, 9],
      [2, 10],
    ]);
  });

  it('codes the mask 6 with the noise 2 as 7, 3 and 10, and users 0 and 2 give 6', () => {
    const kernel: CombinationKernel = {
      name: 'by hand',
      order: 11,
      combine(rows: readonly Uint32Array[], inputs: readonly Uint32Array[], outputs: readonly Uint32Array[]): void {
        for (const [j, row] of rows.entries())
          (outputs[j] as Uint32Array)[0] = row.reduce((sum, w, m) => (sum + w * (inputs[m]?.[0] ?? 0)) % 11, 0);
      },
    };
    const shares = code.encode([Uint32Array.of(6), Uint32Array.of(2)], kernel);
    expect(shares.map(([share]) => share)).toEqual([7, 3, 10]);
    // At alpha_1 = 4: lambda_0 = (4 - 3) / (1 - 3) = 5 and lambda_2 = (4 - 1) / (3 - 1) = 7: 5 * 7 + 7 * 10 = 105 = 6.
    const answers = [shares[0], shares[2]] as Uint32Array[];
    expect(code.decode([0, 2], answers, kernel).map(([piece]) => piece)).toEqual([6]);
  });

  it('the kernel computes the same rows in the field of the protocol', () => {
    const large = new MaskCode({ users: 3, survivors: 2, privacy: 1 }, primeField(FIELD_PRIME));
    const shares = large.encode([Uint32Array.of(6), Uint32Array.of(2)], plainCombinationKernel());
    // 4 * 6 - 3 * 2, 3 * 6 - 2 * 2, 2 * 6 - 1 * 2
    expect(shares.map(([share]) => share)).toEqual([18, 14, 10]);
  });
});
