/** The network below a request: why one failed, how long it may take, and whether it stays on this machine. */

/** Node's code, such as ECONNREFUSED, or the words of the error. */
export function networkReason(error: unknown): string {
  const { cause, message } = error as { readonly cause?: { readonly code?: string }; readonly message: string };
  return cause?.code ?? message;
}

/** A certificate is checked after the service answered, so nothing has to be started. */
export function isCertificateReason(reason: string): boolean {
  return /CERT|LEAF_SIGNATURE|ALTNAME/.test(reason);
}

export function networkAdvice(error: unknown): string {
  const reason = networkReason(error);
  if (reason === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for another host name; check the address';
  if (reason === 'CERT_HAS_EXPIRED') return 'its certificate has expired; renew it there';
  if (isCertificateReason(reason))
    return 'its certificate is not signed by a known CA; set the variable NODE_EXTRA_CA_CERTS to the PEM file of the CA, or of the certificate itself';
  if (reason === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'it uses plain http at this address; use http://, or give it a certificate';
  if (reason === 'ENOTFOUND' || reason === 'EAI_AGAIN') return 'the host does not exist; check the address';
  return 'check that it is running at this address';
}

/** 64 kbit/s: a body may take its time, but a slower sender cannot hold a request open. */
const SLOWEST_BYTES_PER_MS = 8;

export interface AttemptSoFar {
  readonly elapsedMs: number;
  /** The time since the last byte. */
  readonly silentMs: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

/**
 * Returns the remaining time of an attempt at a request; zero if it is over: silence ends it, and so does an answer that comes byte by byte.
 * Every byte in either direction adds time.
 */
export function timeLeftMs(
  { elapsedMs, silentMs, sentBytes, receivedBytes }: AttemptSoFar,
  { timeoutMs }: { readonly timeoutMs: number },
): number {
  const toSendMs = timeoutMs + sentBytes / SLOWEST_BYTES_PER_MS; // nothing comes back while a body is sent
  return Math.min(toSendMs - silentMs, toSendMs + receivedBytes / SLOWEST_BYTES_PER_MS - elapsedMs);
}

/**
 * Tests whether a host is this machine: with any other host, plain http exposes the traffic to reading and changes. Takes a host as `URL`, a configuration or a request names it. Names below `localhost` do not count, because a
 * resolver answers for them.
 */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname === '::1' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}
