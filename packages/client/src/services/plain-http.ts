/** Allows plain http only to this machine, unless the owner of the network allows more. */
import { isLoopback } from '@basa/protocol/http';
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
