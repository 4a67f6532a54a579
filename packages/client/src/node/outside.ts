/** The environment of a client on Node, and the trainer of its network. */
import type { LossName, Model, Trainer } from '@basa/learning';
import { plainVectorKernel } from '@basa/masking';
import { millis } from '@basa/protocol';
import {
  createNodeKeystream,
  createTrainingKernel,
  createWasmVectorKernel,
  nodeCrc32,
  nodeRandomBytes,
  nodeSuite,
} from '@basa/runtime/node';
import { Agent, request } from 'undici';
import { CertificateError } from '../errors.ts';
import { type Outside, sleep, type Transport } from '../outside.ts';
import { maskVector } from './masks.ts';

export interface TlsOptions {
  /** Certificates of the authorities to trust instead of Node's, as PEM. */
  readonly ca?: string | readonly string[];
}

/** OpenSSL's verdicts on a certificate, as Node names them. */
function isUntrusted(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /CERT|LEAF_SIGNATURE/.test(String(error.code));
}

function createNodeTransport(tls: TlsOptions = {}): Transport {
  const ca = typeof tls.ca === 'string' ? tls.ca : tls.ca?.slice();
  // The caller sets time-outs, because it knows the kind of request.
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, ...(ca === undefined ? {} : { connect: { ca } }) });
  return {
    async send({ method, url, headers, body, signal }) {
      const answer = await request(url, {
        dispatcher,
        method: method as 'GET',
        headers,
        signal,
        ...(body === undefined ? {} : { body }),
      }).catch((error: unknown) => {
        throw isUntrusted(error) ? new CertificateError(new URL(url).origin, error) : error;
      });
      return {
        status: answer.statusCode,
        header: (name) => [answer.headers[name.toLowerCase()]].flat()[0],
        chunks: () => answer.body,
      };
    },
    close: () => dispatcher.destroy(),
  };
}

export interface TrainerOptions {
  /**
   * True if another machine that trains on the same examples must come to the same bits. No device needs that, because
   * its training is never repeated: false by default, which is faster if the JavaScript engine has relaxed SIMD.
   */
  readonly equalBits?: boolean;
  /** The loss that is minimised; softmax cross-entropy by default. */
  readonly loss?: LossName;
}

/** Loads the backends on demand, so that an application that trains elsewhere need not load them. */
export async function trainerFor(
  model: Model,
  { equalBits = false, ...options }: TrainerOptions = {},
): Promise<Trainer> {
  const { createKernelBackend, createReferenceBackend, createTrainer } = await import('@basa/learning');
  const kernel = createTrainingKernel({ equalBits });
  return createTrainer(
    kernel === undefined ? createReferenceBackend(model, options) : createKernelBackend(model, kernel, options),
  );
}

export function nodeOutside(tls?: TlsOptions): Outside {
  const kernel = createWasmVectorKernel() ?? plainVectorKernel();
  const tools = { suite: nodeSuite, kernel, keystream: createNodeKeystream() };
  return {
    suite: nodeSuite,
    digest: async (message) => nodeSuite.sha256(message),
    suiteWithKem: async () => (await import('@basa/runtime/kem')).withKem(nodeSuite),
    randomBytes: nodeRandomBytes,
    transport: createNodeTransport(tls),
    now: () => millis(Date.now()),
    stopwatch: () => performance.now(),
    sleep,
    crc32: nodeCrc32,
    kernel,
    mask: (vector, plan, signal) => maskVector(vector, plan, tools, signal),
  };
}
