/** `paper` mode of the test services: Algorithm 1 as the protocol has it, with its sum. */
import { addInPlace, dequantizeSum, packedLength, unpackVector } from '@basa/masking';
import {
  acceptPaperUpload,
  type Ctx,
  certificateCodec,
  connectPaper,
  issuePaperKey,
  type PaperBuffer,
  paperMessages,
  paperTicketCodec,
  type Refused,
  unframeHeader,
  unsafePaperBuffer,
  userIdOf,
} from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { paperAbeSealings } from '@basa/virtual-time/real-sealings';
import type { TestWorld } from './test-world.ts';

export class PaperService {
  readonly world: TestWorld;
  readonly sealings = paperAbeSealings();
  buffer: PaperBuffer;
  readonly #total: Uint32Array;

  constructor(world: TestWorld) {
    this.world = world;
    const { bufferSize, uploadLeaseMs, dimension } = world.policy;
    const ctx = nodeRandomBytes(32) as Ctx;
    this.buffer = unsafePaperBuffer({ bufferSize, leaseMs: uploadLeaseMs }, ctx, world.version);
    this.#total = new Uint32Array(dimension);
  }

  /** sum of alpha x / sum of alpha. */
  get mean(): Float32Array {
    return dequantizeSum(this.#total, this.world.policy, { weightSum: this.buffer.alphaSum, weightScale: 1 });
  }

  connect(certificate: Uint8Array): Uint8Array | Refused {
    const { deviceKey } = certificateCodec.decode(certificate);
    const { serverSigner, now } = this.world;
    const { state, answer } = connectPaper(
      { suite: nodeSuite, signer: serverSigner },
      this.buffer,
      userIdOf(nodeSuite, deviceKey),
      now,
    );
    this.buffer = state;
    return 'kind' in answer ? answer : this.#messages.connectAnswer.encode(answer);
  }

  key(device: Uint8Array, ticket: Uint8Array): Uint8Array | Refused {
    const { policy } = this.world;
    const ports = { suite: nodeSuite, issuer: this.sealings.issuer, serverKey: policy.serverKey };
    const answer = issuePaperKey(ports, userIdOf(nodeSuite, device), paperTicketCodec.decode(ticket));
    return answer.kind === 'refused' ? answer : answer.key;
  }

  upload(device: Uint8Array, framed: Uint8Array): { readonly kind: 'accepted' } | Refused {
    const { policy, now } = this.world;
    const { header, bodyStart } = unframeHeader(framed, 65_536);
    const upload = this.#messages.upload.decode(header);
    const body = framed.subarray(bodyStart, bodyStart + packedLength(policy.dimension, policy.modulus));
    const unpacked = unpackVector(body, policy.dimension, policy.modulus);
    if (unpacked.kind === 'malformed') throw new Error(unpacked.problem);
    const { state, answer } = acceptPaperUpload(this.buffer, userIdOf(nodeSuite, device), upload, now);
    this.buffer = state;
    if (answer.kind === 'refused') return answer;
    if (!answer.isRepeat) addInPlace(this.#total, unpacked.vector, policy.modulus, this.world.tools.kernel);
    return { kind: 'accepted' };
  }

  get #messages() {
    return paperMessages(this.world.policy.bufferSize, this.sealings.sealing);
  }
}
