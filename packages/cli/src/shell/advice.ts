/** The advice for people at a command line, in place of the SDK's advice for programmers: by the code of the error. */
export const INSTEAD: Readonly<Record<string, string>> = {
  unreachable: 'check the address and the network, then run the same command again: it goes on where it stopped',
  'certificate-not-trusted': 'check the address, or name the PEM file of its CA in the variable NODE_EXTRA_CA_CERTS',
  'wrong-authority': 'check its address and --authority-key (BASA_AUTHORITY_KEY)',
  'store-of-another-task': 'give --identity another folder',
  'plain-http': 'use https, or --unsafe-plain-http if the network between is yours',
  'below-floor': 'raise the task, or lower what this device asks for: --minimum, --max-staleness, --max-epsilon',
  'wrong-clock': 'set the clock of this machine, then run the same command again',
  'not-paper-mode': 'leave out --unsafe-paper',
};
