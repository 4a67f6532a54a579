/** What is worth protecting goes over plain http to this machine alone, unless whoever owns the way says so. */
import { isLoopback } from '@basa/protocol';
import { RefusedError } from '../errors.ts';

export function refusePlainHttp(
  service: string,
  url: string,
  { unsafeAllowPlainHttp = false }: { readonly unsafeAllowPlainHttp?: boolean | undefined },
): void {
  const { hostname, protocol } = new URL(url);
  if (protocol === 'http:' && !isLoopback(hostname) && !unsafeAllowPlainHttp)
    throw new RefusedError('plain-http', `${service} ${url}`);
}
