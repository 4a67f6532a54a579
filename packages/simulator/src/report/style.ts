/** The style of the page: light or dark as the reader prefers, tables that fit 1280 pixels. */
export const STYLE = `:root{color-scheme:light dark;--line:#8885;--soft:#8882;--good:#0a7d36;--bad:#c0392b}
@media(prefers-color-scheme:dark){:root{--good:#5dd28a;--bad:#ff8a7a}}
body{font:16px/1.5 system-ui,sans-serif;max-width:78rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{margin:.2rem 0}h2{margin-top:2.5rem;border-bottom:1px solid var(--line);padding-bottom:.2rem}h3{margin:1.6rem 0 .3rem}
.smoke{font-size:clamp(2rem,6vw,4rem);font-weight:800;line-height:1.1;margin:1rem 0;color:var(--bad)}
.score{font-size:1.25rem}.score strong{font-size:2rem}
nav ol{columns:2;column-gap:2rem}nav small,.run{opacity:.8}code{background:var(--soft);padding:.1rem .3rem;border-radius:4px;overflow-wrap:anywhere}
table{border-collapse:collapse;font-size:.76rem;font-variant-numeric:tabular-nums;margin:.3rem 0 1.2rem}
th,td{padding:.22rem .24rem;border-bottom:1px solid var(--line);text-align:right}td{white-space:nowrap}th{vertical-align:bottom;font-weight:600}
th:first-child,td:first-child{text-align:left}.groups th{text-align:center;border-bottom:2px solid var(--line)}.first{border-left:1px solid var(--line)}
tbody tr:hover{background:var(--soft)}.wide{overflow-x:auto}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(34rem,100%),1fr));gap:1rem}figure{margin:0}figcaption{font-size:.8rem}svg,img{width:100%;height:auto;border-radius:6px}
.holds{color:var(--good)}.fails{color:var(--bad)}.open{opacity:.7}.claims{list-style:none;padding:0}.claims li{margin:.4rem 0}li{margin:.2rem 0}summary{cursor:pointer;font-size:.8rem;opacity:.8}`;
