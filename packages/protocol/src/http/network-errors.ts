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
  if (reason === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for another host name; check the address';
  if (reason === 'CERT_HAS_EXPIRED') return 'its certificate has expired; renew it there';
  if (isCertificateReason(reason))
    return 'its certificate is not signed by a known CA; set the variable NODE_EXTRA_CA_CERTS to the PEM file of the CA, or of the certificate itself';
  if (reason === 'ERR_SSL_WRONG_VERSION_NUMBER')
    return 'it uses plain http at this address; use http://, or give it a certificate';
  if (reason === 'ENOTFOUND' || reason === 'EAI_AGAIN') return 'the host does not exist; check the address';
  return 'check that it is running at this address';
}
