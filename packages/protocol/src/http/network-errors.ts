/** The reason why `fetch` failed, and the advice for people. */

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
  if (reason === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for another host name: check the address';
  if (reason === 'CERT_HAS_EXPIRED') return 'its certificate has ended: renew it there';
  if (isCertificateReason(reason))
    return 'its certificate is not of a known CA: name the PEM file of the CA, or of the certificate itself, in the variable NODE_EXTRA_CA_CERTS';
  if (reason === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'it speaks plain http there: use http://, or give it a certificate';
  if (reason === 'ENOTFOUND' || reason === 'EAI_AGAIN') return 'there is no such host: check the address';
  return 'is it running there?';
}
