/** Whether a host is this very machine: to any other, plain http shows and lets change whatever is said. */

/** Takes a host as `URL`, a configuration or a request names it. A resolver answers for names below `localhost`: they do not count. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname === '::1' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}
