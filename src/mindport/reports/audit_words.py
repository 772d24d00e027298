"""The words of the audit reports, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mindport.catalog import Catalog
from mindport.effort.days import assumptions

AUDIT_WORDS: dict[str, dict[str, str]] = {
    "en": {
        "title": "Migration audit: PyTorch to MindSpore",
        "days": "person-days",
        "headline": "{low} to {high} person-days, likely {likely}",
        "range": "P20 to P80; likely is P50",
        "working-days": "{people} people: {low} to {high} working days, likely {likely}",
        "working-days-one": "1 person: {low} to {high} working days, likely {likely}",
        "files": "files",
        "files-with-work": "files with work",
        "code-lines": "lines of code",
        "lines-touched": "lines touched",
        "findings": "findings",
        "coverage": "Coverage",
        "seen": "torch/MindSpore sites seen",
        "resolved": "resolved",
        "judged": "judged",
        "unknown": "unknown",
        "severity": "Severity",
        "family": "Family",
        "difference": "Difference class",
        "tasks": "Where the days go",
        "drivers": "What makes the range wide",
        "assumptions": "Assumptions",
        "waves": "Order: waves",
        "wave": "wave",
        "phases": "Phases",
        "components": "single components",
        "training": "whole training flow",
        "distributed": "distributed",
        "first-model": "Shortest path to one model that runs",
        "blockers": "Blockers",
        "routes": "Three routes out of a blocker, in the order to try them",
        "apis": "Most used names and their targets",
        "name": "name",
        "target": "target",
        "count": "uses",
        "third-party": "Third-party packages",
        "package": "package",
        "risk": "risk",
        "ported": "what exists instead",
        "high": "high",
        "medium": "medium",
        "low": "low",
        "none": "not known",
        "file": "file",
        "kind": "kind",
        "likely": "likely",
        "range-low": "low",
        "range-high": "high",
        "map": "Effort by folder and file",
        "search": "Search path, code or message",
        "all": "all",
        "matching": "{shown} of {total} findings shown",
        "more": "show more",
        "nothing": "none",
        "model-version": "model {version}, days {days_version}",
        "back-test": "Back-test of lines touched on held-out real ports: Spearman {spearman}, {inside} % of real values inside P20-P80 ({files} files; 0.24 x code lines: {simple}). Days are assumptions, not measured.",
        "no-back-test": "Days are assumptions, not measured.",
        "errors": "Files that could not be checked",
        "compared": "Compared with {file}",
        "left": "left",
        "done": "done",
        "new": "new",
        "lines": "Other touched lines",
        "verify": "Verification per Module",
        "scripts": "Running scripts and comparing",
        "class": "Names that change: {label}",
        "same": "same",
        "rename": "rename",
        "arguments": "arguments",
        "default": "defaults",
        "behaviour": "behaviour",
        "compose": "composition",
        "rewrite": "rewrite",
        "missing": "missing",
        "cell": "cell {cell}, line {line}",
        "light-dark": "light / dark",
        "skip": "Skip to the findings",
        "share": "share",
        "shown-files": "{shown} of {total} files listed here, by effort; the JSON report has all",
        "shown-findings": "The {shown} most severe of {total} findings are listed here; the JSON report has all",
        "trend": "Trend",
        "model-changed": "the effort model changed from {old} to {new}: the figures are not of one kind",
        "help-map": "Area: likely effort. Darker: more days per line.",
    },
    "zh": {
        "title": "迁移评估：PyTorch 到 MindSpore",
        "days": "人天",
        "headline": "{low} 至 {high} 人天，预计 {likely}",
        "range": "P20 至 P80；预计值为 P50",
        "working-days": "{people} 人：{low} 至 {high} 个工作日，预计 {likely}",
        "working-days-one": "1 人：{low} 至 {high} 个工作日，预计 {likely}",
        "files": "文件",
        "files-with-work": "需要修改的文件",
        "code-lines": "代码行",
        "lines-touched": "改动行",
        "findings": "问题",
        "coverage": "覆盖率",
        "seen": "见到的 torch/MindSpore 用法",
        "resolved": "已解析",
        "judged": "已判断",
        "unknown": "未知",
        "severity": "严重程度",
        "family": "类别",
        "difference": "差异类型",
        "tasks": "工作量构成",
        "drivers": "区间宽度的来源",
        "assumptions": "假设",
        "waves": "顺序：批次",
        "wave": "批次",
        "phases": "阶段",
        "components": "单个组件",
        "training": "完整训练流程",
        "distributed": "分布式",
        "first-model": "跑通一个模型的最短路径",
        "blockers": "阻断项",
        "routes": "解决阻断项的三条途径，按尝试顺序",
        "apis": "最常用的名称及其目标",
        "name": "名称",
        "target": "目标",
        "count": "用量",
        "third-party": "第三方包",
        "package": "包",
        "risk": "风险",
        "ported": "可替代的包",
        "high": "高",
        "medium": "中",
        "low": "低",
        "none": "未知",
        "file": "文件",
        "kind": "用途",
        "likely": "预计",
        "range-low": "低",
        "range-high": "高",
        "map": "按文件夹与文件的工作量",
        "search": "搜索路径、代码或消息",
        "all": "全部",
        "matching": "显示 {total} 处问题中的 {shown} 处",
        "more": "显示更多",
        "nothing": "无",
        "model-version": "模型 {version}，人天 {days_version}",
        "back-test": "在留出的真实移植上回测改动行：Spearman {spearman}，{inside} % 的真实值落在 P20-P80 内（{files} 个文件；0.24 x 代码行：{simple}）。人天是假设，未经测量。",
        "no-back-test": "人天是假设，未经测量。",
        "errors": "无法检查的文件",
        "compared": "与 {file} 比较",
        "left": "剩余",
        "done": "已完成",
        "new": "新增",
        "lines": "其他改动行",
        "verify": "逐个 Module 验证",
        "scripts": "运行脚本并比较",
        "class": "需要改动的名称：{label}",
        "same": "相同",
        "rename": "改名",
        "arguments": "参数",
        "default": "默认值",
        "behaviour": "行为",
        "compose": "组合",
        "rewrite": "重写",
        "missing": "缺失",
        "cell": "第 {cell} 个单元，第 {line} 行",
        "light-dark": "浅色 / 深色",
        "skip": "跳到问题列表",
        "share": "占比",
        "shown-files": "此处按工作量列出 {total} 个文件中的 {shown} 个；JSON 报告包含全部",
        "shown-findings": "此处列出 {total} 处问题中最严重的 {shown} 处；JSON 报告包含全部",
        "trend": "趋势",
        "model-changed": "工作量模型由 {old} 变为 {new}：两组数字不可直接比较",
        "help-map": "面积：预计工作量。颜色越深：每行人天越多。",
    },
}


def task_title(task: str, catalog: Catalog, language: str) -> str:
    """What a task of the estimate is called."""
    words = AUDIT_WORDS[language]
    if task.startswith("class-"):
        label = task.removeprefix("class-")
        return words["class"].format(label=words.get(label, label))
    if task.startswith("task-"):
        return next(str(t[language]) for t in assumptions()["task"] if f"task-{t['id']}" == task)
    if task in catalog.by_code:
        return f"{task}: {catalog.by_code[task].text(language).title}"
    return words[task]


def routes(language: str) -> list[str]:
    """The three routes out of a blocker."""
    return [str(route[language]) for route in assumptions()["route"]]


def back_test_line(document: Mapping[str, Any], language: str) -> str:
    """The back-test figures every report prints."""
    found = document["model"]["back_test"]
    words = AUDIT_WORDS[language]
    if not found:
        return words["no-back-test"]
    return words["back-test"].format(
        spearman=found["spearman"],
        inside=round(100 * found["inside"]),
        files=found["files"],
        simple=found["simple_spearman"],
    )


def number(value: float) -> str:
    """A number without needless digits."""
    return f"{value:,.0f}" if abs(value) >= 10 else f"{value:.2g}"


def headline(document: Mapping[str, Any], language: str) -> str:
    """The range of person-days in one line."""
    days = {side: number(value) for side, value in document["person_days"].items()}
    return AUDIT_WORDS[language]["headline"].format(**days)


def calendar_line(document: Mapping[str, Any], language: str) -> str:
    """How many working days a number of people need."""
    calendar = document["calendar"]
    days = {side: number(value) for side, value in calendar["working_days"].items()}
    key = "working-days" if calendar["people"] > 1 else "working-days-one"
    return AUDIT_WORDS[language][key].format(people=calendar["people"], **days)
