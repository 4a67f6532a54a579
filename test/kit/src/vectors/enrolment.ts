/** Tokens of devices, and what the owner of each authority sees and registers of them. */
import { ascii, toHex } from '@basa/masking';
import { enrolmentHash, enrolmentProof } from '@basa/protocol/internal/wire/devices.ts';
import { createNodeSigner, nodeSuite as suite } from '@basa/runtime/node';

export function enrolmentVectors(): readonly object[] {
  const keys = ['one owner', 'another owner'].map((name) => createNodeSigner(suite.sha256(ascii(name))).publicKey);
  return ['a device', 'another device'].flatMap((name) => {
    const token = suite.sha256(ascii(name));
    return keys.map((key) => ({
      token: toHex(token),
      authority: toHex(key),
      proof: toHex(enrolmentProof(suite, token, key)),
      hash: toHex(enrolmentHash(suite, token, key)),
    }));
  });
}
