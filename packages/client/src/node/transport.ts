/** HTTP over undici: connections are kept, bodies are streamed. */
import { Agent, request } from 'undici';
import { CertificateError } from '../errors.ts';
import type { Transport } from '../transport.ts';

export interface TlsOptions {
  /** Certificates of the authorities to trust instead of Node's, as PEM. */
  readonly ca?: string | readonly string[];
}

/** OpenSSL's verdicts on a certificate, as Node names them. */
function isUntrusted(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /CERT|LEAF_SIGNATURE/.test(String(error.code));
}

export function createNodeTransport(tls: TlsOptions = {}): Transport {
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
