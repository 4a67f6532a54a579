/** The devices of an authority in a federation, and its signatures for them. */
import { type Signer, toHex } from '@basa/masking';
import { isRefused, type Refused, type UserId } from '@basa/protocol';
import { Certificate, Devices } from '@basa/protocol/wire';
import type { AuthorityWorld } from './world.ts';

export class FederationAuthority {
  readonly world: AuthorityWorld;
  readonly ports: Devices.AuthorityPorts;
  readonly index: number;
  /** On disk, by the hexadecimal of its name. */
  readonly #revoked = new Set<string>();

  constructor(world: AuthorityWorld, signer: Signer, index: number) {
    this.world = world;
    this.index = index;
    this.ports = { suite: world.environment.tools.suite, signer };
  }

  get publicKey(): Uint8Array {
    return this.ports.signer.publicKey;
  }

  enrol(body: Devices.CertificateBody): Certificate | Refused {
    return viaBytes(Certificate, Devices.certify(this.ports, this.world.policy, body, false));
  }

  revoke(user: UserId): void {
    this.#revoked.add(toHex(user));
    this.world.persisted('authority');
  }

  isRevoked(user: UserId): boolean {
    return this.#revoked.has(toHex(user));
  }

  /** Takes over the state of the same authority in another federation. */
  continue(before: FederationAuthority): void {
    for (const user of before.#revoked) this.#revoked.add(user);
  }
}

/** Returns the answer as it arrives: encoded and decoded again. */
export function viaBytes<T extends object>(
  codec: { encode(value: T): Uint8Array; decode(bytes: Uint8Array): T },
  answer: T | Refused,
): T | Refused {
  return isRefused(answer) ? answer : codec.decode(codec.encode(answer));
}
