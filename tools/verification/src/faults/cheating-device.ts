/** A device that does one thing wrong, as a program that was tampered with would. */
import type { SeedSealing, Signer } from '@basa/masking';
import { concatBytes } from '@basa/masking';
import type { BuiltInput, Deposit, DepositRoot, Descriptor, Refused, UserPorts } from '@basa/protocol';
import {
  authorityMessages,
  bodyHashOf,
  depositMessage,
  depositStatementCodec,
  frameHeader,
  prefixElements,
  unframeHeader,
} from '@basa/protocol';
import type { Step, World } from '@basa/simulator';
import { FederationDevice } from '@basa/simulator';
import type { Cheat } from './simulation.ts';

/** Where the weight stands in x'. */
const WEIGHT_WORD = 4;

export class CheatingDevice extends FederationDevice {
  readonly cheat: Cheat;

  constructor(world: World, number: number, signer: Signer, cheat: Cheat) {
    super(world, number, signer);
    this.cheat = cheat;
  }

  override contribute(until?: Step): { readonly kind: 'accepted' } | Refused {
    if (this.cheat === 'hoards-seats') return super.contribute('seat');
    return super.contribute(this.cheat === 'quits' && until === 'upload' ? 'key' : until);
  }

  /** What is sealed in the deposit is not what is said; edges that would open are called void, and their masks left out. */
  override get ports(): UserPorts {
    const ports = super.ports;
    if (this.session === undefined) return { ...ports, sealing: this.#sealing(ports.sealing) };
    if (this.cheat !== 'lies-about-voids') return ports;
    return { ...ports, sealing: { ...ports.sealing, open: () => undefined } };
  }

  #sealing(sealing: SeedSealing): SeedSealing {
    let sealed = 0;
    const seal: SeedSealing['seal'] = (seed, attribute, context) => {
      const where = sealed++ === this.world.policy.bufferSize - 1 ? 'self' : 'edges';
      if (this.cheat === `garbage-${where}`) return sealing.seal(seed, attribute, flipped(context, 0));
      return sealing.seal(this.cheat === `other-${where}` ? flipped(seed, 0) : seed, attribute, context);
    };
    return { ...sealing, seal };
  }

  override buildVector(descriptor: Descriptor, delta: Float32Array, trainedOn: number): BuiltInput {
    const built = super.buildVector(descriptor, delta, trainedOn);
    if (built.kind === 'refused') return built;
    const { vector } = built;
    if (this.cheat === 'wrong-weight') vector[WEIGHT_WORD] = 2 * descriptor.weightScale;
    if (this.cheat === 'wrong-guard') vector[1] = 7;
    if (this.cheat === 'out-of-range') vector[prefixElements(descriptor) + this.number] = 2 ** 20;
    return built;
  }

  override depositBytes(message?: Deposit): Uint8Array {
    const bytes = super.depositBytes(message);
    if (this.session?.step !== 'prepared') return bytes;
    const { deposit } = this.world.server.messages;
    const { ctx, joinTag, root } = this.session.member;
    if (this.cheat === 'bad-signature') {
      return deposit.encode(depositMessage(this.session, flipped(deposit.decode(bytes).signature, 3)));
    }
    if (this.cheat !== 'wrong-root') return bytes;
    const wrong = flipped(root, 0) as DepositRoot;
    const signature = this.signer.sign(depositStatementCodec.statement({ ctx, joinTag, root: wrong }));
    return deposit.encode({ ...depositMessage(this.session, signature), root: wrong });
  }

  override uploadBytes(): Uint8Array {
    const bytes = super.uploadBytes();
    if (this.cheat === 'truncates') return bytes.slice(0, -1);
    if (this.cheat === 'alters') return this.#resigned(bytes, 0);
    return this.cheat === 'bad-backups' ? this.#resigned(bytes, -1) : bytes;
  }

  /** The upload with one byte of its body changed, under a header that says so. */
  #resigned(bytes: Uint8Array, at: number): Uint8Array {
    const { header, bodyStart } = unframeHeader(bytes, 4096);
    const { uploadHeader } = authorityMessages(this.world.policy.bufferSize);
    const whole = bytes.subarray(bodyStart);
    const body = flipped(whole, at < 0 ? whole.length + at : at);
    const said = { ...uploadHeader.decode(header), bodyHash: bodyHashOf(this.suite, body, []) };
    const signature = this.signer.sign(uploadHeader.statement(said));
    return concatBytes(frameHeader(uploadHeader.encode({ ...said, signature })), body);
  }
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.map((byte, n) => (n === at ? byte ^ 1 : byte));
}
