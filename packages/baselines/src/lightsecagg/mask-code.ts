/** The code of LightSecAgg: U pieces of a mask become N shares, any U shares of a sum give the pieces of the sum. */
import type { CombinationKernel } from '../field/combination-kernel.ts';
import type { Field } from '../field/field.ts';
import { interpolation } from '../field/field.ts';
import { type CodeParameters, checkCode } from './parameters.ts';

/**
 * A polynomial of degree U - 1 takes the pieces as its values at alpha_m and the shares at beta_j. Any U columns of W are invertible, and
 * so are any T columns of its noise rows. Therefore any T shares are uniform and independent of the mask.
 */
export class MaskCode {
  readonly parameters: CodeParameters;
  /** Row j: W[1..U, j] = prod_{l != m} (beta_j - alpha_l) / (alpha_m - alpha_l). */
  readonly rows: readonly Uint32Array[];
  readonly #field: Field;

  constructor(parameters: CodeParameters, field: Field) {
    checkCode(parameters);
    const { users, survivors } = parameters;
    if (users + survivors >= field.order) throw new RangeError(`the field has fewer than ${users + survivors} points`);
    this.parameters = parameters;
    this.#field = field;
    const pieces = interpolation(
      field,
      Array.from({ length: survivors }, (_, m) => this.#piecePoint(m)),
    );
    this.rows = Array.from({ length: users }, (_, user) => pieces.coefficientsAt(sharePoint(user)));
  }

  /** e_j = sum_m W[m, j] piece_m, for every user j; U - T pieces of the mask and T of noise. */
  encode(pieces: readonly Uint32Array[], kernel: CombinationKernel): Uint32Array[] {
    const { users, survivors } = this.parameters;
    if (pieces.length !== survivors) throw new RangeError(`${pieces.length} pieces instead of ${survivors}`);
    const shares = Array.from({ length: users }, () => new Uint32Array(pieces[0]?.length ?? 0));
    kernel.combine(this.rows, pieces, shares);
    return shares;
  }

  /** The U - T pieces of the mask, from the shares of exactly U users. */
  decode(users: readonly number[], shares: readonly Uint32Array[], kernel: CombinationKernel): Uint32Array[] {
    const { survivors, privacy } = this.parameters;
    if (users.length !== survivors) throw new RangeError(`${users.length} shares instead of ${survivors}`);
    const points = interpolation(this.#field, users.map(sharePoint));
    const rows = Array.from({ length: survivors - privacy }, (_, m) => points.coefficientsAt(this.#piecePoint(m)));
    const pieces = rows.map(() => new Uint32Array(shares[0]?.length ?? 0));
    kernel.combine(rows, shares, pieces);
    return pieces;
  }

  /** alpha_m = N + 1 .. N + U. */
  #piecePoint(piece: number): number {
    return this.parameters.users + 1 + piece;
  }
}

/** beta_j = 1 .. N. */
function sharePoint(user: number): number {
  return user + 1;
}
