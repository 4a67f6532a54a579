/** The advice for people at a command line, in place of the SDK's advice for programmers: by the code of the error. */
export const INSTEAD: Readonly<Record<string, string>> = {
  unreachable: 'check the address and the network, then run the same command again; it continues where it stopped',
  'certificate-not-trusted': 'check the address, or set the variable NODE_EXTRA_CA_CERTS to the PEM file of its CA',
  'wrong-authority': 'check --authority and --authority-key (BASA_AUTHORITY, BASA_AUTHORITY_KEY)',
  'store-of-another-task': 'choose another folder with --identity',
  'task-exists': 'use exactly the earlier settings, or choose another name with --name',
  'plain-http': 'use https, or add --unsafe-plain-http if you control the network in between',
  'below-floor':
    'ask for less with --minimum, --max-staleness or --max-epsilon, or take part in a task that meets them',
};
