"""Reports: one HTML file with text, tables, checked statements, charts, maps and animations; it needs no network."""

from kmcf.report.axis import Axis
from kmcf.report.blocks import Block, Image, SideBySide, Statement, Statements, Text, Verdict
from kmcf.report.chart import Chart
from kmcf.report.content import Section
from kmcf.report.heat_map import HeatMap
from kmcf.report.map_chart import MapChart, MapPath
from kmcf.report.page import Report
from kmcf.report.player import Frame, Player
from kmcf.report.series import Series
from kmcf.report.table import Estimate, Table
from kmcf.support.atomic import write_atomically

__all__ = [
    "Axis",
    "Block",
    "Chart",
    "Estimate",
    "Frame",
    "HeatMap",
    "Image",
    "MapChart",
    "MapPath",
    "Player",
    "Report",
    "Section",
    "Series",
    "SideBySide",
    "Statement",
    "Statements",
    "Table",
    "Text",
    "Verdict",
    "write_atomically",
]
