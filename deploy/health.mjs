// For health checks in an image without curl: node health.mjs URL
const [url = ''] = process.argv.slice(2);
const answered = await fetch(url, { signal: AbortSignal.timeout(4000) }).then(
  ({ ok }) => ok,
  () => false,
);
process.exit(answered ? 0 : 1);
