"""The few words reports say themselves, in English and Chinese."""

from __future__ import annotations

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "summary": "{findings} findings in {hit} of {files} files",
        "one": "1 finding in 1 of {files} files",
        "clean": "no findings in {files} files",
        "failed": "{failed} could not be checked",
        "coverage": "coverage: {sites} torch/MindSpore sites seen, {resolved} resolved, {judged} judged ({percent}), {unknown} unknown",
        "nothing": "coverage: no torch or MindSpore site seen, so nothing was judged",
        "effort": "effort of these findings: {low} to {high}, likely {likely}",
        "fix": "fix",
        "code": "code",
        "name": "check",
        "count": "findings",
        "minutes": "likely effort",
        "severity": "severity",
        "error": "error",
        "bad": "Bad",
        "good": "Good",
        "near-miss": "Not this check",
        "what": "What it finds",
        "why": "Why it matters",
        "use": "What to do",
        "proof": "Proof",
        "examples": "Examples",
        "off": "off by default",
        "before": "before the port",
        "on": "for `{device}`",
        "minutes-range": "minutes (low / likely / high)",
        "proven": "Executed on MindSpore 2.10.0 and torch 2.13.0 (CPU).",
        "unproven": "Not executed here: {why}",
        "unproven-code": "not executed: {why}",
        "executed": "executed on {versions}, largest difference {size}",
        "porters-mint": "porters in 2025 wrote",
        "porters-nn": "porters from 2021 to 2024 wrote",
        "undocumented": "platforms not documented",
        "unknown-name": "no row in the API tables.",
        "similar": "Did you mean",
        "also": "also",
        "dropped": "leave out",
        "refused": "cannot be converted",
        "alone": "not reviewed: {count} files without an original under {folder}: {names}",
        "fixed": "fixed {count} places in {files} files; findings left: {left}",
        "would fix": "would fix {count} places in {files} files; findings left then: {left}",
    },
    "zh": {
        "summary": "{files} 个文件中有 {hit} 个存在问题，共 {findings} 处",
        "one": "{files} 个文件中有 1 个存在问题，共 1 处",
        "clean": "{files} 个文件中没有发现问题",
        "failed": "{failed} 个文件无法检查",
        "coverage": "覆盖率：共见到 {sites} 处 torch/MindSpore 用法，已解析 {resolved} 处，已判断 {judged} 处（{percent}），未知 {unknown} 处",
        "nothing": "覆盖率：没有见到 torch 或 MindSpore 名称，因此未作任何判断",
        "effort": "这些问题的工作量：{low} 至 {high}，预计 {likely}",
        "fix": "修复",
        "code": "代码",
        "name": "检查项",
        "count": "数量",
        "minutes": "预计工作量",
        "severity": "严重程度",
        "error": "错误",
        "bad": "错误写法",
        "good": "正确写法",
        "near-miss": "不属于此检查",
        "what": "检查内容",
        "why": "为何重要",
        "use": "如何修改",
        "proof": "验证",
        "examples": "示例",
        "off": "默认关闭",
        "before": "移植之前",
        "on": "`{device}` 上",
        "minutes-range": "分钟（低 / 预计 / 高）",
        "proven": "已在 MindSpore 2.10.0 与 torch 2.13.0（CPU）上执行。",
        "unproven": "未在此执行：{why}",
        "unproven-code": "未执行：{why}",
        "executed": "已在 {versions} 上执行，最大差异 {size}",
        "porters-mint": "2025 年的移植者写法",
        "porters-nn": "2021 至 2024 年的移植者写法",
        "undocumented": "文档未列出平台",
        "unknown-name": "API 表中没有此名称。",
        "similar": "您是否要找",
        "also": "另见",
        "dropped": "去掉",
        "refused": "无法转换",
        "alone": "未审查：{count} 个文件在 {folder} 下没有对应的原文件：{names}",
        "fixed": "已修复 {files} 个文件中的 {count} 处；剩余发现：{left}",
        "would fix": "可修复 {files} 个文件中的 {count} 处；之后剩余发现：{left}",
    },
}

_UNITS = {"en": ("min", "h", "days"), "zh": ("分钟", "小时", "人天")}


def duration(minutes: float, language: str) -> str:
    """Minutes as people say them: one or two significant digits, in minutes, hours or 8-hour days."""
    minute, hour, day = _UNITS[language]
    if minutes < 60:
        return f"{minutes:.2g} {minute}"
    if minutes < 480:
        return f"{minutes / 60:.2g} {hour}"
    days = minutes / 480
    return f"{float(f'{days:.2g}'):g} {day}"
