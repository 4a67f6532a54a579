/** A device that does one thing wrong, like a program that was tampered with. */
import { concatBytes, type Signer } from '@basa/masking';
import {
  authorityMessages,
  type BufferSealing,
  type BuiltInput,
  type Deposit,
  type DepositRoot,
  type Descriptor,
  depositMessage,
  depositStatementCodec,
  frameHeader,
  prefixElements,
  type Refused,
  type UserPorts,
  unframeHeader,
} from '@basa/protocol';
import { FederationDevice, type Step, type World } from '@basa/simulator';
import type { Cheat } from './simulation.ts';

/** The position of the weight in x'. */
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

  /** The sealed content differs from the declared one; edges that would open are declared void, and their masks left out. */
  override get ports(): UserPorts {
    const ports = super.ports;
    return { ...ports, sealing: this.#sealing(ports.sealing) };
  }

  #sealing(sealing: BufferSealing): BufferSealing {
    const garbled = (sealed: Uint8Array): Uint8Array => flipped(sealed, sealed.length - 1);
    // Backups are good: only the content of the deposit differs from the declared one.
    const isDeposit = this.session === undefined;
    switch (this.cheat) {
      case 'lies-about-voids':
        return { ...sealing, edgeOpener: () => () => undefined };
      case 'garbage-self':
        return { ...sealing, sealSelf: (...input) => garbled(sealing.sealSelf(...input)) };
      case 'other-self':
        return {
          ...sealing,
          sealSelf: (buffer, registration, seed) => sealing.sealSelf(buffer, registration, flipped(seed, 0)),
        };
      case 'garbage-edges':
        return isDeposit ? { ...sealing, sealEdge: (...input) => garbled(sealing.sealEdge(...input)) } : sealing;
      case 'other-edges':
        return isDeposit
          ? { ...sealing, sealEdge: (buffer, slot, use, seed) => sealing.sealEdge(buffer, slot, use, flipped(seed, 0)) }
          : sealing;
      default:
        return sealing;
    }
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

  /** The upload with one byte of its body changed, under a header that matches it. */
  #resigned(bytes: Uint8Array, at: number): Uint8Array {
    const { header, bodyStart } = unframeHeader(bytes, 4096);
    const { uploadHeader } = authorityMessages(this.world.policy.bufferSize);
    const whole = bytes.subarray(bodyStart);
    const body = flipped(whole, at < 0 ? whole.length + at : at);
    const said = { ...uploadHeader.decode(header), bodyHash: this.suite.sha256(body) };
    const signature = this.signer.sign(uploadHeader.statement(said));
    return concatBytes(frameHeader(uploadHeader.encode({ ...said, signature })), body);
  }
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.map((byte, n) => (n === at ? byte ^ 1 : byte));
}
