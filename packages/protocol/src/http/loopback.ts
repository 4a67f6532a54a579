/** Whether a host is this very machine: to any other, plain http shows and lets change whatever is said. */

/** Of a host name as `URL` gives it. Other names below `localhost` are a resolver's to answer, and not meant. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
