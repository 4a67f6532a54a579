/** Signers and mask tools of the explorer's worlds, over the symbolic suite: nobody there tries to forge. */
import { type Keystream, type MaskTools, plainVectorKernel, type Signer } from '@basa/masking';
import { unsafeSymbolicSigner, unsafeSymbolicSuite } from '../unsafe-symbolic-suite.ts';

export function signerOf(secretKey: Uint8Array): Signer {
  return unsafeSymbolicSigner(unsafeSymbolicSuite.sha256(secretKey));
}

const keystream: Keystream = {
  read: ({ stream, firstByte, bytes }) => {
    const length = 4 * Math.ceil((firstByte + bytes) / 4);
    const whole = unsafeSymbolicSuite.hkdf({
      secret: stream.key,
      salt: stream.counter,
      info: new Uint8Array(),
      length,
    });
    return whole.subarray(firstByte, firstByte + bytes);
  },
};

export function unsafeSymbolicTools(): MaskTools<Keystream> {
  return { suite: unsafeSymbolicSuite, kernel: plainVectorKernel(16), keystream };
}
