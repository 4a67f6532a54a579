/** Both services over real HTTP for client tests: a thin layer per docs/http.md over the cores of a `TestWorld`. */
import type { Server } from 'node:http';
import { fromHex, toHex } from '@basa/masking';
import {
  certificateCodec,
  certify,
  ENROLMENT_TOKEN_BYTES,
  encodePolicy,
  enrolmentProof,
  HEADER,
  isRefused,
  millis,
  pieceStatement,
  problemOfRefusal,
  requestStatement,
} from '@basa/protocol';
import { nodeCrc32, nodeSuite } from '@basa/runtime/node';
import { type Asked, listenFor, type Mischief, type TlsFiles } from './http-listener.ts';
import { bytes, bytesOrProblem, documented, json, problem, type Reply } from './http-replies.ts';
import type { PaperService } from './paper-service.ts';
import { ShotService } from './shot-service.ts';
import { parametersOf, type TestWorld } from './test-world.ts';

const SKEW_MS = 300_000;

export class HttpServices {
  readonly world: TestWorld;
  readonly tokens = new Set(['01', '02', '03', '04', '05'].map((byte) => byte.repeat(ENROLMENT_TOKEN_BYTES)));
  readonly asked: Asked[] = [];
  mischief: Mischief = {};
  /** With it, the task runs in paper mode. */
  paper: PaperService | undefined;
  readonly shots: ShotService;
  /** Of the signed requests so far. */
  readonly nonces = new Set<string>();
  readonly #servers: Server[] = [];
  serverUrl = '';
  authorityUrl = '';

  readonly #tls: TlsFiles | undefined;

  constructor(world: TestWorld, tls?: TlsFiles) {
    this.world = world;
    this.shots = new ShotService(world);
    this.#tls = tls;
  }

  async start(): Promise<this> {
    this.serverUrl = await this.#listen('server', (asked) => this.#server(asked));
    this.authorityUrl = await this.#listen('authority', (asked) => this.#authority(asked));
    return this;
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  async #listen(service: Asked['service'], handle: (asked: Asked) => Reply): Promise<string> {
    const hear = (asked: Asked): Mischief => {
      this.asked.push(asked);
      return this.mischief;
    };
    const { server, url } = await listenFor({ service, tls: this.#tls, handle, hear });
    this.#servers.push(server);
    return url;
  }

  /** The number of requests with this part in their path. */
  count(part: string, method?: string): number {
    return this.asked.filter((asked) => asked.path.includes(part) && (method ?? asked.method) === asked.method).length;
  }

  #server(asked: Asked): Reply {
    const { world } = this;
    const parts = asked.path.split('/').slice(2);
    const [kind, name = '', room, ...rest] = parts;
    if (kind === 'server') {
      const [publicKey, authorityKey] = [world.serverSigner.publicKey, world.authority.publicKey];
      return json({ publicKey: toHex(publicKey), authorityKey: toHex(authorityKey) });
    }
    if (kind === 'tasks' && room === undefined) {
      return json({
        task: name,
        mode: this.paper === undefined ? 'one-shot' : 'paper',
        state: 'running',
        version: this.world.version,
        // A hint as servers of an earlier version gave it: nobody follows it any more.
        training: { epochs: 9, batch: 1, rate: 1e-9 },
      });
    }
    if (rest[0] === 'newest' || rest[1] === 'fate') return this.shots.reply(asked);
    if (kind === 'tasks' && room === 'models') return modelReply(world, Number(rest[0]), asked);
    const device = this.#signed(asked, world.serverSigner.publicKey);
    if (!(device instanceof Uint8Array)) return device;
    if (room === 'admissions') return json({ endsInMs: 60_000, ...this.shots.withPlace() });
    if (room === 'unsafe-paper' && this.paper !== undefined) {
      if (rest[0] === 'connect') return bytesOrProblem(this.paper.connect(asked.body));
      const answer = this.paper.upload(device, asked.body);
      return answer.kind === 'refused' ? documented(problemOfRefusal(answer)) : json({ accepted: true });
    }
    if (room === 'shots') return this.shots.reply(asked);
    return problem('not-found');
  }

  #authority(asked: Asked): Reply {
    const { world } = this;
    const { authority } = world;
    const [kind, name = '', room, last] = asked.path.split('/').slice(2);
    if (kind === 'authority') {
      return json({ publicKey: toHex(authority.publicKey) });
    }
    if (room === 'policy') {
      return name === toHex(world.task) ? bytes(encodePolicy(world.policy)) : problem('task-unknown');
    }
    if (last === 'sealing-key') return bytes(this.paper?.sealings.issuer.publicKey ?? new Uint8Array());
    const device = this.#signed(asked, authority.publicKey);
    if (!(device instanceof Uint8Array)) return device;
    if (room === 'enrolments') return this.#enrol(device, asked.body);
    if (room === 'unsafe-paper' && this.paper !== undefined) return bytesOrProblem(this.paper.key(device, asked.body));
    return problem('not-found');
  }

  readonly #enrolled = new Map<string, Uint8Array>();

  #proofOf(token: string): Uint8Array {
    return enrolmentProof(nodeSuite, fromHex(token) as Uint8Array, this.world.authority.publicKey);
  }

  #enrol(deviceKey: Uint8Array, body: Uint8Array): Reply {
    const { authority, task, policy } = this.world;
    const known = this.#enrolled.get(toHex(deviceKey));
    if (known !== undefined) return bytes(known);
    const { proof } = JSON.parse(Buffer.from(body).toString()) as { proof?: string };
    const token = [...this.tokens].find((one) => toHex(this.#proofOf(one)) === proof);
    if (token === undefined || !this.tokens.delete(token)) return problem('enrolment-token-invalid');
    const certificate = certify({ signer: authority }, policy, { task, deviceKey }, false);
    if (isRefused(certificate)) return documented(problemOfRefusal(certificate));
    this.#enrolled.set(toHex(deviceKey), certificateCodec.encode(certificate));
    return bytes(certificateCodec.encode(certificate));
  }

  /** The device key that signed the request, or the problem with it. */
  #signed({ headers, method, path, body }: Asked, audience: Uint8Array): Uint8Array | Reply {
    const of = (name: string): Uint8Array => fromHex(String(headers[name])) ?? new Uint8Array();
    const [publicKey, nonce, signature] = [of(HEADER.device), of(HEADER.nonce), of(HEADER.signature)];
    if (headers[HEADER.device] === undefined) return problem('unsigned');
    const at = millis(Number(headers[HEADER.time]));
    const now = this.world.now;
    if (Math.abs(at - now) > SKEW_MS)
      return problem('clock-skew', { detail: `its time is ${new Date(now).toISOString()}` });
    const digest = nodeSuite.sha256(body);
    const isPiece = method === 'PUT' && path.includes('/shots/');
    const message = isPiece
      ? pieceStatement({ audience, target: path, at, nonce, ...placeOf(headers, body) })
      : requestStatement({ audience, method, target: path, digest, at, nonce });
    if (!nodeSuite.verify({ signature, message, publicKey })) return problem('request-signature-invalid');
    if (
      !isPiece &&
      body.length > 0 &&
      headers[HEADER.digest] !== `sha-256=:${Buffer.from(digest).toString('base64')}:`
    ) {
      return problem('digest-mismatch');
    }
    if (this.nonces.has(toHex(nonce))) return problem('replayed');
    this.nonces.add(toHex(nonce));
    return publicKey;
  }
}

/** The words that a device signs of a piece; the checksum is that of the bytes which came. */
function placeOf(headers: Asked['headers'], body: Uint8Array) {
  return { offset: Number(headers[HEADER.uploadOffset]), length: body.length, crc: nodeCrc32(body) };
}

function modelReply({ policy }: TestWorld, version: number, { headers }: Asked): Reply {
  const whole = new Uint8Array(parametersOf(version, policy.dimension).buffer);
  const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
  const body = whole.subarray(start);
  return start === 0 ? { status: 200, body } : { status: 206, body };
}
