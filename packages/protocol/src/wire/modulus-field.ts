/** A group on the wire: one byte, 0 for the field, the number of bits for a ring. */
import { DecodeError, FIELD, type Modulus, ring } from '@basa/masking';
import type { Field } from './fields.ts';

export const modulusField: Field<Modulus> = {
  write: (writer, modulus) => writer.u8(modulus.kind === 'field' ? 0 : modulus.bits),
  read: (reader, name) => {
    const bits = reader.u8(name);
    if (bits === 0) return FIELD;
    if (bits < 2 || bits > 32) throw new DecodeError(name, `no ring of ${bits} bits`);
    return ring(bits);
  },
};
