/** Tokens of devices, for their application or the directory that knows its users: neither the task's operator nor an authority makes them. */
import { fromHex, toHex } from '@basa/masking';
import { ENROLMENT_TOKEN_BYTES, enrolmentHash } from '@basa/protocol/wire';
import { webSuite } from '@basa/runtime/web';

/** One for each device, which alone keeps it. */
export function newEnrolmentTokens(count: number): readonly string[] {
  return Array.from({ length: count }, () => toHex(crypto.getRandomValues(new Uint8Array(ENROLMENT_TOKEN_BYTES))));
}

/** The hashes that the owner of the authority with this key registers: of no use to anybody else, and not enough to enrol. */
export function enrolmentHashes(tokens: readonly string[], authorityKey: string): readonly string[] {
  const key = bytesOf(authorityKey, 'authorityKey');
  return tokens.map((token) => toHex(enrolmentHash(webSuite, bytesOf(token, 'an enrolment token'), key)));
}

function bytesOf(hex: string, name: string): Uint8Array {
  const bytes = fromHex(hex);
  if (bytes?.length !== 32) throw new RangeError(`${name} must be 64 lower-case hexadecimal digits`);
  return bytes;
}
